/**
 * Makes the OpenAPI 3.1 document of the partner API. The types of the partner page are generated from the document; the document
 * is not served.
 */
import { errorComponents, openApiPaths } from '../admin/openapi.ts'
import { PARTNER_BASE } from './route.ts'
import { PARTNER_ROUTES } from './routes.ts'
import { PARTNER_SESSION_CALLS } from './session-routes.ts'

export const partnerDocument = () => ({
  openapi: '3.1.0',
  info: { title: 'Partner API', version: '1' },
  paths: openApiPaths(
    PARTNER_BASE,
    [...PARTNER_ROUTES, ...Object.values(PARTNER_SESSION_CALLS)].map((call) => [call, {}] as const),
  ),
  components: errorComponents({
    401: 'Nobody is signed in, or the session has ended.',
    403: 'The call does not come from the partner page.',
    413: 'The body is larger than 16,384 bytes.',
    429: 'Too many calls of this participant, or failures of this address, came within a minute.',
  }),
})
