/** Verifies a signed consent: a compact JWS of a registered authority. Its claims must be valid for this request. */
import { CONSENT_TYPE, ConsentClaims, isJsonObject, JsonError, type JsonValue, parseJson, validator } from '@rollcall/protocol'
import { compactVerify, errors } from 'jose'
import type { AuthorityKeyFinder } from './authority-keys.ts'
import { CONSENT_ALGORITHMS, type ConsentAlgorithm } from './authority-keys.ts'
import type { ConsentAuthority } from './store/authorities.ts'

/** A signed consent is refused. The message says the rule and has no value of the consent. */
export class ConsentProblem extends Error {
  override readonly name = 'ConsentProblem'
}

/** The most characters of a signed consent. */
const MOST_JWS_CHARACTERS = 8_192
/** Seconds by which the clock of an authority may be ahead of ours. */
const CLOCK_SKEW_SECONDS = 60
const COMPACT_JWS_PATTERN = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** Header members that change how a JWS is read (RFC 7515, 4.1.11; RFC 7797, 3). A JWS with one of them is refused. */
const REFUSED_JWS_EXTENSIONS = ['crit', 'b64']

/** The request for which the consent must be valid. */
export interface RequestUnderConsent {
  /** The `Registry.sender_id`. The claim `aud` must have it. */
  readonly registry: string
  /** The sender_id of the participant. */
  readonly participant: string
  /** The names of the authorities that the grant accepts; undefined: every registered one. */
  readonly authorities: readonly string[] | undefined
  readonly now: Date
}

export interface VerifiedConsent {
  readonly authority: ConsentAuthority
  readonly claims: ConsentClaims
}

const claimsValidator = validator<ConsentClaims>(ConsentClaims)

/** Verifies the signature and the claims of a signed consent. @throws ConsentProblem */
export async function verifyConsent(
  jws: string,
  scope: RequestUnderConsent,
  deps: { readonly authorityNamed: (name: string) => Promise<ConsentAuthority | null>; readonly keys: AuthorityKeyFinder },
): Promise<VerifiedConsent> {
  if (jws.length > MOST_JWS_CHARACTERS || !COMPACT_JWS_PATTERN.test(jws)) {
    throw new ConsentProblem(`must be a compact JWS of at most ${MOST_JWS_CHARACTERS} characters`)
  }
  const [head = '', body = ''] = jws.split('.')
  const header = parseJwsPart(head)
  if (header?.typ !== CONSENT_TYPE) throw new ConsentProblem(`must have the typ ${CONSENT_TYPE}`)
  const unread = REFUSED_JWS_EXTENSIONS.find((name) => Object.hasOwn(header, name))
  if (unread !== undefined) throw new ConsentProblem(`${unread}: no extension of JWS is accepted`)
  const alg = CONSENT_ALGORITHMS.find((name) => name === header.alg)
  if (alg === undefined) {
    throw new ConsentProblem(`must be signed with one of ${CONSENT_ALGORITHMS.join(', ')}`)
  }
  const { kid } = header
  if (kid !== undefined && typeof kid !== 'string') throw new ConsentProblem('kid: must be a string')
  const claims = parseJwsPart(body)
  const problem = claimsValidator.firstProblem(claims)
  if (problem !== null) throw new ConsentProblem(`its payload: ${claimsValidator.problem(claims, 'claims')}`)
  const checked = claims as ConsentClaims
  const accepted = scope.authorities?.includes(checked.iss) ?? true
  const authority = accepted ? await deps.authorityNamed(checked.iss) : null
  if (authority === null) throw new ConsentProblem(`iss: must be ${acceptedIssuersText(scope)}`)
  await verifySignature(jws, alg, await deps.keys.of(authority, kid ?? null, alg))
  checkClaims(checked, scope)
  return { authority, claims: checked }
}

const acceptedIssuersText = ({ authorities }: RequestUnderConsent): string =>
  authorities === undefined ? 'a registered consent authority' : `one of ${authorities.join(', ')}`

/** Parses a part of the JWS; null when it is no JSON object, or has a member twice. */
function parseJwsPart(text: string): { readonly [member: string]: JsonValue } | null {
  try {
    const value = parseJson(Buffer.from(text, 'base64url').toString())
    return isJsonObject(value) ? value : null
  } catch (error) {
    if (error instanceof JsonError) return null
    throw error
  }
}

/** Verifies the signature of a consent with one of its authority's keys. @throws ConsentProblem */
async function verifySignature(
  jws: string,
  alg: ConsentAlgorithm,
  keys: Awaited<ReturnType<AuthorityKeyFinder['of']>>,
): Promise<void> {
  for (const key of keys) {
    try {
      await compactVerify(jws, key, { algorithms: [alg] })
      return
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error
    }
  }
  throw new ConsentProblem('must be signed with a key of its authority')
}

/** Checks audience, participant and times. @throws ConsentProblem */
function checkClaims({ aud, azp, iat, exp, nbf = 0 }: ConsentClaims, { registry, participant, now }: RequestUnderConsent): void {
  const seconds = now.getTime() / 1_000
  if (![aud].flat().includes(registry)) throw new ConsentProblem('aud: must have the sender_id of this registry')
  if (azp !== undefined && azp !== participant) throw new ConsentProblem('azp: names another participant')
  if (iat > seconds + CLOCK_SKEW_SECONDS) throw new ConsentProblem('iat: must not be in the future')
  if (nbf > seconds + CLOCK_SKEW_SECONDS) throw new ConsentProblem('nbf: the consent is not valid yet')
  if (exp <= iat) throw new ConsentProblem('exp: must be later than iat')
  if (exp <= seconds) throw new ConsentProblem('exp: the consent has expired')
}
