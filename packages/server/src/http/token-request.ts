/** Reads the credentials in a token request, and refuses a wrong request as RFC 6749 requires (sections 2.3.1, 4.4, 5). */
import { JsonError, parseJson } from '@rollcall/protocol'

export interface ClientCredentials {
  readonly client_id: string
  readonly client_secret: string
}

/** A refusal with an error code of RFC 6749, section 5.2, or `temporarily_unavailable` of its section 4.1.2.1. */
export class TokenRefusal extends Error {
  override readonly name = 'TokenRefusal'
  readonly error: 'invalid_request' | 'invalid_client' | 'unsupported_grant_type' | 'temporarily_unavailable'
  readonly httpStatus: number
  /** The seconds that the client must wait, for `temporarily_unavailable`. */
  readonly retryAfter: number | undefined
  /** The sender_id of the client, if it is known; for our own log. */
  readonly participant: string | null

  constructor(
    error: TokenRefusal['error'],
    description: string,
    httpStatus = 400,
    more: { readonly retryAfter?: number; readonly participant?: string | null } = {},
  ) {
    super(description)
    this.error = error
    this.httpStatus = httpStatus
    this.retryAfter = more.retryAfter
    this.participant = more.participant ?? null
  }
}

/** A token request. `query` is the query string of the URL; undefined unless the operator allows credentials there. */
export interface UnreadTokenRequest {
  readonly authorization: string | undefined
  readonly contentType: string
  readonly body: string
  readonly query: string | undefined
}

/** The parameters that are read. `scope` is not read: a token permits all that its participant may do (RFC 6749, 3.3). */
const PARAMETER_NAMES = ['grant_type', 'client_id', 'client_secret']
type TokenParameters = ReadonlyMap<string, string>

/**
 * Reads the client's credentials, from HTTP Basic or from the parameters, never from both.
 * @throws TokenRefusal invalid_request, invalid_client, unsupported_grant_type
 */
export function readTokenRequest(request: UnreadTokenRequest): ClientCredentials {
  const parameters = readParameters(request)
  const grant_type = parameters.get('grant_type')
  if (grant_type === undefined) throw new TokenRefusal('invalid_request', 'grant_type is required')
  if (grant_type !== 'client_credentials') {
    throw new TokenRefusal('unsupported_grant_type', 'grant_type must be client_credentials')
  }
  const basic = readBasicCredentials(request.authorization)
  const client_id = parameters.get('client_id')
  const client_secret = parameters.get('client_secret')
  if (basic !== null) {
    if (client_secret !== undefined || (client_id !== undefined && client_id !== basic.client_id)) {
      throw new TokenRefusal('invalid_request', 'client credentials must be sent in one place only')
    }
    return basic
  }
  if (client_id === undefined || client_secret === undefined) {
    throw new TokenRefusal('invalid_client', 'client_id and client_secret are required', 401)
  }
  return { client_id, client_secret }
}

function readParameters({ contentType, body, query }: UnreadTokenRequest): TokenParameters {
  const [type = ''] = contentType.toLowerCase().split(';')
  const fromQuery = query === undefined ? [] : [...new URLSearchParams(query)]
  if (body === '') return collectParameters(fromQuery)
  switch (type.trim()) {
    case 'application/x-www-form-urlencoded':
      return collectParameters([...new URLSearchParams(body), ...fromQuery])
    case 'application/json':
      return collectParameters([...readJsonPairs(body), ...fromQuery])
    default:
      throw new TokenRefusal('invalid_request', 'Content-Type must be application/x-www-form-urlencoded or application/json')
  }
}

/** Collects the known parameters. A repeated one is refused (RFC 6749, section 3.2), and an empty one is ignored. */
function collectParameters(pairs: readonly (readonly [string, string])[]): TokenParameters {
  const parameters = new Map<string, string>()
  for (const [name, value] of pairs) {
    if (!PARAMETER_NAMES.includes(name) || value === '') continue
    if (parameters.has(name)) throw new TokenRefusal('invalid_request', `${name} must be sent once`)
    parameters.set(name, value)
  }
  return parameters
}

function readJsonPairs(body: string): [string, string][] {
  try {
    const value = parseJson(body, { maxDepth: 4 })
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const pairs = Object.entries(value).filter(([name]) => PARAMETER_NAMES.includes(name))
      if (pairs.every((pair): pair is [string, string] => typeof pair[1] === 'string')) return pairs
    }
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
  }
  throw new TokenRefusal('invalid_request', 'the body must be a JSON object of strings')
}

/**
 * Reads the credentials of HTTP Basic; null when there is no Authorization header. RFC 6749 (2.3.1) wants id and secret
 * form-encoded, but few clients encode them: a part that is no valid encoding is used as it is.
 */
function readBasicCredentials(authorization: string | undefined): ClientCredentials | null {
  if (authorization === undefined) return null
  const encoded = /^basic +([A-Za-z0-9+/_-]+=*)$/i.exec(authorization)?.[1]
  const [client_id, ...secret] = Buffer.from(encoded ?? '', 'base64')
    .toString('utf8')
    .split(':')
  if (encoded === undefined || client_id === undefined || secret.length === 0) {
    throw new TokenRefusal('invalid_client', 'Authorization must be HTTP Basic with client_id and secret', 401)
  }
  return { client_id: decodeFormText(client_id), client_secret: decodeFormText(secret.join(':')) }
}

function decodeFormText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
