/** Calls of the admin API, with the types of its OpenAPI document. The session's cookie says who calls. */
import createClient from 'openapi-fetch'
import { ActProposed, ApiFault, noAnswerFault, readErrors, readProposalId } from './fault.ts'
import { consoleHeader } from './presence.ts'
import type { paths } from './schema.d.ts'

/** The client of the admin API. */
export const api = createClient<paths>({ baseUrl: location.origin, credentials: 'same-origin', redirect: 'error' })
api.use({
  onRequest({ request }) {
    for (const [name, value] of Object.entries(consoleHeader())) request.headers.set(name, value)
  },
})

interface ApiCallResult<Data> {
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

/** The type of the answer when the act was done: without the answer that has only the proposal for a second operator. */
type DoneActAnswer<Data> = Data extends { readonly proposal: unknown } ? (keyof Data extends 'proposal' ? never : Data) : Data

/**
 * Awaits the answer to a call: `await answerTo(api.GET('/admin/v1/registries'))`.
 * @throws ApiFault the call failed, or got no answer
 * @throws ActProposed the act waits for a second operator
 */
export async function answerTo<Data>(pending: Promise<ApiCallResult<Data>>): Promise<DoneActAnswer<Data>> {
  const { data, error, response } = await pending.catch(() => {
    throw noAnswerFault()
  })
  if (!response.ok) throw new ApiFault(response.status, readErrors(response.status, error))
  const proposal = response.status === 202 ? readProposalId(data) : null
  if (proposal !== null) throw new ActProposed(proposal)
  return data as DoneActAnswer<Data>
}

/** The type of the answer to a GET call, by the path of the call. */
export type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } }
}
  ? Body
  : never
