/** Issues access tokens: POST /oauth2/client/token takes client credentials (public standard 1.3; RFC 6749). */

import type { Limits } from '@rollcall/core/limits'
import type { Database } from '@rollcall/database/database'
import type { Metrics } from '@rollcall/observe/metrics'
import { createThrottle, type Throttle } from '@rollcall/participants/admission/throttle'
import { digestSecret, isSecretOf } from '@rollcall/participants/directory/secrets'
import type { AccessTokens } from '@rollcall/participants/directory/tokens'
import { readBodyText } from '@rollcall/participants/reading/body'
import { findClient } from '@rollcall/participants/store/participants'
import { CALLBACKS, OPERATIONS, RequestFault, TOKEN_PATH } from '@rollcall/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendJson } from './answer.ts'
import type { RequestGate } from './request-gate.ts'
import { type HttpServer, mountHandler } from './server.ts'
import { readTokenRequest, TokenRefusal } from './token-request.ts'

/** The most bytes of a token request. */
const MAX_TOKEN_REQUEST_BYTES = 16_384

/** The scope of every token, in the words of the public standard 1.3: all operations and callbacks of the protocol. */
const GRANTED_SCOPE = [...OPERATIONS, ...CALLBACKS].map(({ name }) => `registry.${name}`).join(' ')

interface TokenDeps {
  readonly db: Database
  readonly tokens: Pick<AccessTokens, 'issue'>
  readonly requestGate: Pick<RequestGate, 'wait' | 'unit' | 'noteParticipant' | 'tokenRefused'>
  readonly metrics: Pick<Metrics, 'tokenAnswered'>
  readonly limits: Pick<Limits, 'token_failures'>
}

/**
 * Adds the route for tokens.
 * @param options.queryParameters true when credentials in the query string are accepted, although proxies write them to
 * their logs
 */
export function addTokenRoute(app: HttpServer, deps: TokenDeps, options: { queryParameters: boolean }): void {
  const throttle = createThrottle(deps.limits.token_failures)
  mountHandler(app, 'POST', 'token', `/${TOKEN_PATH}`, async (request, reply) => {
    try {
      const wait = deps.requestGate.wait(request.raw)
      if (wait > 0) throw tooManyFailuresRefusal(wait)
      const token = await issueToken(deps, throttle, request, options.queryParameters)
      deps.metrics.tokenAnswered('issued')
      sendJson(reply, 200, JSON.stringify(token), { Pragma: 'no-cache' })
    } catch (error) {
      const refusal = toTokenRefusal(error)
      deps.requestGate.tokenRefused(request.raw, refusal.error, refusal.participant)
      deps.metrics.tokenAnswered(refusal.retryAfter === undefined ? 'refused' : 'throttled')
      sendRefusal(reply, refusal)
    }
  })
}

/** Adds a route to the operator's listener which tells a client that it must request tokens at the other port. */
export function addTokenRouteAtOperatorPort(app: HttpServer): void {
  mountHandler(app, 'POST', 'token', `/${TOKEN_PATH}`, () => {
    throw new RequestFault('err.request.not_found', "this is the operator's port of the server: peers call the other one")
  })
}

async function issueToken(
  deps: TokenDeps,
  throttle: Throttle,
  request: FastifyRequest,
  queryParameters: boolean,
): Promise<object> {
  const body = await readBodyText(request.raw, MAX_TOKEN_REQUEST_BYTES)
  const credentials = readTokenRequest({
    authorization: request.headers.authorization,
    contentType: request.headers['content-type'] ?? '',
    body,
    query: queryParameters ? request.url.split('?')[1] : undefined,
  })
  const client = await findClient(deps.db, credentials.client_id)
  const proven = isSecretOf(client?.secrets ?? [], credentials.client_secret)
  if (client === null || !proven || client.participant.status !== 'active') {
    const participant = client?.participant.sender_id ?? null
    countTokenFailure(throttle, deps.requestGate.unit(request.raw), credentials.client_id, participant)
    throw new TokenRefusal('invalid_client', 'client_id or client_secret is wrong, or the client is disabled', 401, {
      participant,
    })
  }
  deps.requestGate.noteParticipant(request.raw, client.participant.sender_id)
  const { access_token, expires_in } = await deps.tokens.issue(client.participant)
  return { access_token, token_type: 'bearer', expires_in, scope: GRANTED_SCOPE }
}

/**
 * Counts a failed token request. Refuses it with 429 if it is beyond `token_failures` in a minute from one address for one
 * client. Requests with good credentials are not limited here, so nobody can keep a client from its tokens by failing from
 * another address.
 */
function countTokenFailure(throttle: Throttle, address: string, client_id: string, participant: string | null): void {
  // The throttle keeps a digest, because it may remember 100,000 callers, and a client_id may be as long as a request.
  const caller = digestSecret(`${address} ${client_id}`).toString('base64')
  const wait = throttle.wait(caller)
  if (wait > 0) throw tooManyFailuresRefusal(wait, participant)
  throttle.fail(caller)
}

const tooManyFailuresRefusal = (retryAfter: number, participant: string | null = null): TokenRefusal =>
  new TokenRefusal('temporarily_unavailable', 'too many failed requests; try again later', 429, { retryAfter, participant })

/**
 * Turns an error into the refusal to send. A RequestFault, such as for an unreadable body, becomes `invalid_request` (RFC 6749).
 * @throws any other error
 */
function toTokenRefusal(error: unknown): TokenRefusal {
  if (error instanceof TokenRefusal) return error
  if (error instanceof RequestFault) return new TokenRefusal('invalid_request', error.message, error.httpStatus)
  throw error
}

function sendRefusal(reply: FastifyReply, refusal: TokenRefusal): void {
  const body = JSON.stringify({ error: refusal.error, error_description: refusal.message })
  sendJson(reply, refusal.httpStatus, body, {
    Pragma: 'no-cache',
    ...(refusal.httpStatus === 401 && { 'WWW-Authenticate': 'Basic realm="rollcall"' }),
    ...(refusal.retryAfter !== undefined && { 'Retry-After': String(refusal.retryAfter) }),
  })
}
