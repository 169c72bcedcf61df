/** Verifies a received envelope in steps: read the signature, find the key that it names, verify. */
import { isJsonObject, type JsonValue } from '../../json.ts'
import type { SignedEnvelope } from '../source.ts'
import { ALGORITHMS, fitsAlgorithm, type WebCryptoKey } from './algorithms.ts'
import { canonicalPayloadText, receivedParts } from './canonical-forms.ts'
import { signatureWithoutPayload } from './jws.ts'
import type { ReadingRules, ReadSignature } from './layout.ts'
import { LAYOUTS } from './layouts.ts'
import { invalid, isPlaceholder, SignatureProblem } from './problem.ts'

/** The most characters of a signature: a sender may pad a valid one, and the audit log keeps it. */
const MOST_SIGNATURE_CHARACTERS = 8_192

/**
 * Reads the `signature` of an envelope in the layout of the sender's profile. The returned signature is not verified yet.
 *
 * @throws {SignatureProblem} `missing` when there is none or a placeholder, `invalid` when it breaks the layout's rules
 */
export function readSignature(signature: JsonValue | undefined, rules: ReadingRules): ReadSignature {
  if (signature === undefined || signature === null) {
    throw new SignatureProblem('missing', 'the message has no signature')
  }
  if (typeof signature !== 'string') throw invalid('the signature must be a text')
  if (isPlaceholder(signature)) {
    throw new SignatureProblem('missing', 'the message has a placeholder instead of a signature')
  }
  const read = LAYOUTS[rules.profile.layout].read(signature, rules)
  if (signatureWithoutPayload(signature, rules.profile).length > MOST_SIGNATURE_CHARACTERS) {
    throw invalid(`the signature must have at most ${MOST_SIGNATURE_CHARACTERS} characters, without the payload of a JWS`)
  }
  return read
}

/**
 * Resolves when the private key of `publicKey` made the signature for this envelope's header and message; rejects otherwise. The
 * caller checks that the key is valid and belongs to the header's sender_id, and that the signature is fresh (`checkFreshness`).
 * @throws {SignatureProblem} always `invalid`
 */
export async function verifySignature(
  signature: ReadSignature,
  envelope: SignedEnvelope,
  publicKey: WebCryptoKey,
): Promise<void> {
  const { algorithm, canonical_form, sender_id, value } = signature
  const parts = receivedParts(envelope, canonical_form)
  if (sender_id !== null && sender_id !== senderIdOf(envelope)) {
    throw invalid('kidId must name the sender_id of the header')
  }
  if (!fitsAlgorithm(publicKey, algorithm)) throw invalid('the key is for another algorithm than the signature')
  const content = await signature.content(parts, (text) => canonicalPayloadText(text, envelope, canonical_form))
  const parameters = ALGORITHMS[algorithm].webCrypto
  const verified = await crypto.subtle.verify(parameters, publicKey, value, content).catch(() => false)
  if (!verified) throw invalid('the signature does not belong to this header and message')
}

function senderIdOf(envelope: SignedEnvelope): JsonValue | undefined {
  const header = envelope.member('header')
  return isJsonObject(header) && Object.hasOwn(header, 'sender_id') ? header.sender_id : undefined
}
