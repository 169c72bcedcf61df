/** Messages that come in: verifying their signatures, and decrypting them. */
import { RequestFault } from '../faults.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { type DecryptionLimits, decryptMessage, EncryptionProblem, type ResolveKey } from './encryption/encryption.ts'
import { encryptionProblem } from './encryption/form.ts'
import type { AlgorithmName, WebCryptoKey } from './signature/algorithms.ts'
import { checkFreshness } from './signature/freshness.ts'
import type { ReadingRules, ReadSignature } from './signature/layout.ts'
import { isPlaceholder, SignatureProblem } from './signature/problem.ts'
import { readSignature, verifySignature } from './signature/verify.ts'
import type { SignedEnvelope } from './source.ts'

/** The requirements for the signatures of a sender (D18). A policy is one of these rows, never a branch. */
export interface SignatureRules {
  /** Signatures are verified. */
  readonly verifies: boolean
  /** A message may come without one. */
  readonly mayBeAbsent: boolean
  /** Whether a signature without times of its own is checked by the time of its message. */
  readonly datesMessages: boolean
}

export const SIGNATURE_RULES = {
  required: { verifies: true, mayBeAbsent: false, datesMessages: true },
  'if-present': { verifies: true, mayBeAbsent: true, datesMessages: false },
  off: { verifies: false, mayBeAbsent: true, datesMessages: false },
} as const satisfies Readonly<Record<string, SignatureRules>>

export type SignaturePolicy = keyof typeof SIGNATURE_RULES

/** The signature rules of one sender. */
export interface Verification extends ReadingRules {
  readonly rules: SignatureRules
  /** Public keys of the sender that may have made a signature: live, for signatures of this algorithm, named `kid`. */
  readonly keys: (kid: string | null, algorithm: AlgorithmName) => Promise<readonly WebCryptoKey[]>
  /** The text of the refusal when there is no such key. */
  readonly withoutKey: string
  /** Unix time in seconds. */
  readonly now: number
  /** Seconds by which clocks may differ; 60 by default. */
  readonly skew?: number
  /** Whether the message came on a callback path, where it may be days old (N16). */
  readonly callback?: boolean
  /** Whether the message is a result, whose message_ts may have no zone. */
  readonly result?: boolean
}

/**
 * Verifies the signature of an envelope: read strictly, fresh, and made with a key of its sender. The parsed envelope
 * must not be changed before.
 * @returns whether a signature was verified
 * @throws RequestFault err.signature.missing, err.signature.invalid; the text names the rule
 */
export async function verifyEnvelope(envelope: SignedEnvelope, sender: Verification): Promise<boolean> {
  const { rules, profile } = sender
  const signature = envelope.member('signature')
  if (!rules.verifies || (rules.mayBeAbsent && isUnsigned(signature))) return false
  try {
    const read = readSignature(signature, sender)
    if (read.expires !== null || rules.datesMessages) {
      const { now, skew, callback, result } = sender
      const message_ts = messageTime(envelope)
      checkFreshness({
        ...read,
        profile,
        message_ts,
        now,
        ...(skew !== undefined && { skew }),
        callback: callback === true,
        result: result === true,
      })
    }
    await verifyWithAny(read, envelope, sender)
    return true
  } catch (error) {
    if (!(error instanceof SignatureProblem)) throw error
    throw new RequestFault(`err.signature.${error.kind}`, `signature: ${error.message}`)
  }
}

/** Absent, empty, or one of the closed list of words that peers write in place of a signature (1.4, detail 6). */
function isUnsigned(signature: JsonValue | undefined): boolean {
  if (signature === undefined || signature === null) return true
  return typeof signature === 'string' && isPlaceholder(signature)
}

function messageTime(envelope: SignedEnvelope): unknown {
  const header = envelope.member('header')
  return isJsonObject(header) ? header.message_ts : undefined
}

/** A signature that names no key is tried with each key of its algorithm. */
async function verifyWithAny(
  read: ReadSignature,
  envelope: SignedEnvelope,
  { keys, withoutKey }: Verification,
): Promise<void> {
  // Errors are costly to make, so none is made before a key fits.
  let problem: SignatureProblem | null = null
  for (const key of await keys(read.kid, read.algorithm)) {
    try {
      await verifySignature(read, envelope, key)
      return
    } catch (error) {
      if (!(error instanceof SignatureProblem)) throw error
      problem = error
    }
  }
  throw problem ?? new SignatureProblem('invalid', withoutKey)
}

/** The requirements for the messages of a sender, and the keys that decrypt them. */
export interface Decryption extends DecryptionLimits {
  /** Whether the header says that the message is encrypted. */
  readonly encrypted: boolean
  /** For each of the two forms of a message, why it is refused; null: this form is accepted. */
  readonly refuses: { readonly clear: string | null; readonly encrypted: string | null }
  readonly keys: ResolveKey
  /** Called before anything is decrypted; throws when the message must not be decrypted. */
  readonly before?: () => Promise<void>
}

/** One text for all reasons, so that a peer learns nothing from it. */
export const CANNOT_BE_DECRYPTED = 'message: cannot be decrypted'

/**
 * The message in clear. Every way in which an encrypted one cannot be decrypted gives the same answer.
 * @throws RequestFault err.encryption.invalid
 */
export async function openMessage(message: JsonObject, sender: Decryption): Promise<JsonObject> {
  const { encrypted, refuses } = sender
  const problem = encryptionProblem(encrypted, message) ?? refuses[encrypted ? 'encrypted' : 'clear']
  if (problem !== null) throw encryptionFault(problem)
  if (!encrypted) return message
  await sender.before?.()
  try {
    return (await decryptMessage(message, sender.keys, sender)).message
  } catch (error) {
    if (!(error instanceof EncryptionProblem)) throw error
    throw encryptionFault(CANNOT_BE_DECRYPTED)
  }
}

/** Refuses a message because of its encryption. */
export const encryptionFault = (message: string): RequestFault => new RequestFault('err.encryption.invalid', message)
