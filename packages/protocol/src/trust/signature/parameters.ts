/** The specification's layout: a list of named parameters (spec "Authentication" 2; 1.4 dialect A). */

import { fromBase64, toBase64, utf8Bytes } from '../base64.ts'
import { ALGORITHMS, type AlgorithmName, findAllowedAlgorithm } from './algorithms.ts'
import { type CanonicalParts, headerAndMessageText } from './canonical-forms.ts'
import { type DigestPrefix, digestOf } from './digests.ts'
import type { Layout } from './layout.ts'
import { invalid } from './problem.ts'

/** The parameters in the order of writing. They are read in any order. */
const PARAMETER_NAMES = ['namespace', 'kidId', 'algorithm', 'created', 'expires', 'headers', 'signature'] as const
type SignatureParameters = Readonly<Record<(typeof PARAMETER_NAMES)[number], string>>

/** The text with which a signature may begin, before the list of parameters: published samples have it. */
const PARAMETER_LIST_PREFIX = 'Signature: '
const SIGNED_HEADERS_TEXT = '(created) (expires) digest'

export const parametersLayout: Layout = {
  algorithms: ['EdDSA', 'ES256', 'RS256'],
  expires: true,
  digest: true,

  read(text, { profile, namespaces }) {
    const list = readParameters(text)
    if (!namespaces.includes(list.namespace)) throw invalid('namespace must be one that the receiver accepts')
    const [sender_id, kid, spelling, ...more] = list.kidId.split('|')
    if (!sender_id || !kid || !spelling || more.length > 0) {
      throw invalid('kidId must be written sender_id|kid|algorithm')
    }
    if (spelling !== list.algorithm) throw invalid('kidId and algorithm must name the same algorithm')
    const algorithm = findAllowedAlgorithm(list.algorithm, 'parameters', profile.algorithms)
    if (algorithm === null) throw invalid('algorithm must be one that is registered for the sender')
    if (list.headers !== SIGNED_HEADERS_TEXT) throw invalid(`headers must be "${SIGNED_HEADERS_TEXT}"`)
    const value = fromBase64(list.signature)
    if (value === null || value.length === 0) throw invalid('signature must be canonical base64')
    const created = requireSeconds(list.created, 'created')
    const expires = requireSeconds(list.expires, 'expires')
    const { digest_prefix, canonical_form } = profile
    const content = (parts: CanonicalParts) => bytesToSignOrVerify(parts, created, expires, digest_prefix)
    return { sender_id, kid, algorithm, created, expires, canonical_form, value, content }
  },

  async write(parts, { profile, sender_id, kid, algorithm, namespace, created, expires }, signed) {
    const value = await signed(await bytesToSignOrVerify(parts, created, expires, profile.digest_prefix))
    const list: SignatureParameters = {
      namespace,
      kidId: qualifiedKid(sender_id, { kid, algorithm }),
      algorithm: algorithmSpellingOf(algorithm),
      created: String(created),
      expires: String(expires),
      headers: SIGNED_HEADERS_TEXT,
      signature: toBase64(value),
    }
    return PARAMETER_NAMES.map((name) => `${name}="${requireQuotable(list[name])}"`).join(', ')
  },
}

const algorithmSpellingOf = (algorithm: AlgorithmName): string => ALGORITHMS[algorithm].spellings.parameters[0]

/**
 * The kidId of a key, its name in signatures of this layout: `sender_id`, `kid` and algorithm with bars between them.
 * @throws TypeError a part is empty or has a bar in it
 */
export const qualifiedKid = (
  sender_id: string,
  { kid, algorithm }: { readonly kid: string; readonly algorithm: AlgorithmName },
): string => [sender_id, kid, algorithmSpellingOf(algorithm)].map(requireKidIdPart).join('|')

/**
 * The text that is signed, as bytes: the three lines `(created)`, `(expires)` and `digest`, with LF between them and none at the
 * end.
 */
async function bytesToSignOrVerify(parts: CanonicalParts, created: number, expires: number, prefix: DigestPrefix) {
  const digest = await digestOf(headerAndMessageText(parts), prefix)
  return utf8Bytes(`(created): ${created}\n(expires): ${expires}\ndigest: ${digest}`)
}

/** Matches a value without quotes, backslashes and control characters, so that every reader finds the same end of the value. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const QUOTABLE_CHARACTERS = /[^"\\\u0000-\u001f\u007f]*/.source
const PARAMETER_PATTERN = new RegExp(`([A-Za-z]+)="(${QUOTABLE_CHARACTERS})"`, 'y')
const PARAMETER_SEPARATOR_PATTERN = /, */y
const QUOTABLE_TEXT_PATTERN = new RegExp(`^${QUOTABLE_CHARACTERS}$`)

function readParameters(text: string): SignatureParameters {
  const list: Partial<Record<keyof SignatureParameters, string>> = {}
  let at = text.startsWith(PARAMETER_LIST_PREFIX) ? PARAMETER_LIST_PREFIX.length : 0
  for (;;) {
    PARAMETER_PATTERN.lastIndex = at
    const [, name = '', value = ''] = PARAMETER_PATTERN.exec(text) ?? []
    if (name === '') throw invalid('the signature must be a list of name="value" with commas between them')
    if (!isParameterName(name)) throw invalid('the signature has an unknown parameter')
    if (list[name] !== undefined) throw invalid(`${name} occurs twice in the signature`)
    list[name] = value
    at = PARAMETER_PATTERN.lastIndex
    if (at === text.length) break
    PARAMETER_SEPARATOR_PATTERN.lastIndex = at
    if (!PARAMETER_SEPARATOR_PATTERN.test(text))
      throw invalid('the signature must be a list of name="value" with commas between them')
    at = PARAMETER_SEPARATOR_PATTERN.lastIndex
  }
  const missing = PARAMETER_NAMES.find((name) => list[name] === undefined)
  if (missing !== undefined) throw invalid(`the signature has no ${missing}`)
  return list as SignatureParameters
}

function isParameterName(name: string): name is keyof SignatureParameters {
  return (PARAMETER_NAMES as readonly string[]).includes(name)
}

const UNIX_TIME_PATTERN = /^(?:0|[1-9][0-9]{0,10})$/

function requireSeconds(text: string, name: string): number {
  if (!UNIX_TIME_PATTERN.test(text)) throw invalid(`${name} must be a Unix time in whole seconds`)
  return Number(text)
}

function requireQuotable(value: string): string {
  if (!QUOTABLE_TEXT_PATTERN.test(value))
    throw new TypeError('a parameter of a signature cannot hold quotes, backslashes or controls')
  return value
}

function requireKidIdPart(part: string): string {
  if (part === '' || part.includes('|')) throw new TypeError('a part of kidId cannot be empty or hold |')
  return part
}
