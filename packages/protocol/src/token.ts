/** The schemas of token requests: OAuth 2.0 client credentials (RFC 6749, 4.4). Public standard 1.3, D35. */
import Type, { type Static } from 'typebox'
import { oneOf } from './common.ts'

/** The path of token requests, below the address of the host, not of a registry. */
export const TOKEN_PATH = 'oauth2/client/token'

export const TokenRequest = Type.Object(
  {
    grant_type: oneOf(['client_credentials']),
    client_id: Type.Optional(Type.String({ description: 'Left out when HTTP Basic carries it.' })),
    client_secret: Type.Optional(Type.String({ description: 'Left out when HTTP Basic carries it.' })),
    scope: Type.Optional(Type.String({ description: 'Read and ignored.' })),
  },
  { title: 'TokenRequest', description: 'Asks for an access token (RFC 6749, 4.4.2).' },
)
export type TokenRequest = Static<typeof TokenRequest>

export const TokenAnswer = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.String({ description: 'Bearer.' }),
    expires_in: Type.Integer({ minimum: 1, description: 'Seconds.' }),
    scope: Type.Optional(
      Type.String({
        description: 'What the token is good for, with spaces between: all that its holder may do here, whatever was asked for.',
      }),
    ),
  },
  { title: 'TokenAnswer', description: 'An access token (RFC 6749, 5.1). It is not to be stored.' },
)
export type TokenAnswer = Static<typeof TokenAnswer>

export const TokenError = Type.Object(
  {
    error: oneOf([
      'invalid_request',
      'invalid_client',
      'invalid_grant',
      'unauthorized_client',
      'unsupported_grant_type',
      'invalid_scope',
      'temporarily_unavailable',
    ]),
    error_description: Type.Optional(Type.String()),
  },
  { title: 'TokenError', description: 'Why no token is given (RFC 6749, 5.2).' },
)
export type TokenError = Static<typeof TokenError>
