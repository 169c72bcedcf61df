/** Calls of the partner API with their types. The session's cookie says who calls. */
import createClient from 'openapi-fetch'
import { presenceHeaderValue } from '../api/presence.ts'
import type { paths } from './schema.d.ts'

/** The client of the partner API. */
export const partnerApi = createClient<paths>({ baseUrl: location.origin, credentials: 'same-origin', redirect: 'error' })
partnerApi.use({
  onRequest({ request }) {
    // A form or a page of another origin cannot send this header.
    request.headers.set('Rollcall-Partner', presenceHeaderValue())
  },
})

/** The type of the answer to a GET call of the partner API, by the path of the call. */
export type PartnerAnswer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } }
}
  ? Body
  : never
