/** Describes the token endpoint in an OpenAPI document. The endpoint belongs to the host, not to one registry. */
import { PROTOCOL_VERSION } from '../common.ts'
import { TOKEN_PATH, TokenAnswer, TokenError, TokenRequest } from '../token.ts'
import type { ComponentCollector, JsonObject } from './components.ts'

/** The security schemes of the document: how a request sends its token, and where a client gets one. */
export const tokenSecuritySchemes = (serverUrl: string): JsonObject => ({
  token: {
    type: 'oauth2',
    description: 'An access token for client_id and client_secret of a participant.',
    flows: { clientCredentials: { tokenUrl: `${hostUrl(serverUrl).replace(/\/$/, '')}/${TOKEN_PATH}`, scopes: {} } },
  },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: `An access token from POST /${TOKEN_PATH} (N12).` },
  client: {
    type: 'http',
    scheme: 'basic',
    description: 'client_id and client_secret, as another way than in the body (RFC 6749, 2.3.1).',
  },
})

/** The address of the host: that of the registry without namespace and version. */
export function hostUrl(serverUrl: string): string {
  return serverUrl.replace(new RegExp(`/[^/]+/v${PROTOCOL_VERSION}/?$`), '') || '/'
}

/** The path of the token endpoint with its description, for `paths` of the document. */
export function describeTokenPath(serverUrl: string, components: ComponentCollector): JsonObject & Record<string, JsonObject> {
  const example = { grant_type: 'client_credentials', client_id: 'spmis', client_secret: 'a-secret' }
  const asked = { schema: components.refer(TokenRequest), example }
  const refused = (description: string, error: string) => ({
    description,
    content: { 'application/json': { schema: components.refer(TokenError), example: { error } } },
  })
  return {
    [`/${TOKEN_PATH}`]: {
      servers: [{ url: hostUrl(serverUrl) }],
      post: {
        operationId: 'token',
        tags: ['Access token'],
        summary: 'Get an access token (RFC 6749 client credentials, public standard 1.3).',
        security: [{}, { client: [] }],
        requestBody: { required: true, content: { 'application/x-www-form-urlencoded': asked, 'application/json': asked } },
        responses: {
          200: {
            description: 'A token.',
            content: {
              'application/json': {
                schema: components.refer(TokenAnswer),
                example: {
                  access_token: 'eyJ0eXAiOiJhdCtqd3QifQ.e30.c2ln',
                  token_type: 'Bearer',
                  expires_in: 900,
                  scope: 'registry.search registry.txn-status',
                },
              },
            },
          },
          400: refused('The request is not understood.', 'invalid_request'),
          401: refused('The client or its secret is not known.', 'invalid_client'),
          429: refused('Too many attempts.', 'temporarily_unavailable'),
        },
      },
    },
  }
}
