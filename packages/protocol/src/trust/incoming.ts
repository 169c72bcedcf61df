/** Verifies signatures of received messages, and decrypts the messages. */
import { RequestFault } from '../faults.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { type DecryptionLimits, decryptMessage, EncryptionProblem, type ResolveKey } from './encryption/encryption.ts'
import { findEncryptionMismatch } from './encryption/form.ts'
import type { AlgorithmName, WebCryptoKey } from './signature/algorithms.ts'
import { checkFreshness } from './signature/freshness.ts'
import type { ReadingRules, ReadSignature } from './signature/layout.ts'
import { isPlaceholder, SignatureProblem } from './signature/problem.ts'
import { readSignature, verifySignature } from './signature/verify.ts'
import type { SignedEnvelope } from './source.ts'

/** The rules for a sender's signatures (D18). `SIGNATURE_RULES` has one row for each policy. */
export interface SignatureRules {
  /** True when the sender's signatures are verified. */
  readonly verifies: boolean
  /** True when a message may have no signature. */
  readonly mayBeAbsent: boolean
  /** True when a signature without times is fresh only if `message_ts` in the header is recent. */
  readonly datesMessages: boolean
}

/** For each signature policy, the rules for a sender's signatures. */
export const SIGNATURE_RULES = {
  required: { verifies: true, mayBeAbsent: false, datesMessages: true },
  'if-present': { verifies: true, mayBeAbsent: true, datesMessages: false },
  off: { verifies: false, mayBeAbsent: true, datesMessages: false },
} as const satisfies Readonly<Record<string, SignatureRules>>

/**
 * `required`: messages must be signed. `if-present`: a message may be unsigned, but a signature must be valid. `off`:
 * signatures are not verified.
 */
export type SignaturePolicy = keyof typeof SIGNATURE_RULES

/** The keys and rules that verify the signatures of one sender. */
export interface Verification extends ReadingRules {
  readonly rules: SignatureRules
  /** Finds the sender's valid public keys for this algorithm; with a kid, only those that have this name. */
  readonly keys: (kid: string | null, algorithm: AlgorithmName) => Promise<readonly WebCryptoKey[]>
  /** The text of the refusal when `keys` finds no key for a signature. */
  readonly withoutKey: string
  /** The current time in seconds since 1970. */
  readonly now: number
  /** Seconds by which clocks may differ; 60 by default. */
  readonly skew?: number
  /** True when the message came on a callback path, where it may be days old (N16). */
  readonly callback?: boolean
  /** True for an answer or a callback: its message_ts may lack a zone, and is then read as UTC. */
  readonly result?: boolean
}

/**
 * Verifies the signature of an envelope: reads it strictly, checks that it is fresh, and that a key of the sender made it. A
 * signature without times is checked for freshness only under a policy with `datesMessages`. The envelope must be as it was
 * received.
 * @returns true when a signature was verified; false when the policy is `off`, or allows unsigned messages and this is one
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
      const message_ts = readMessageTime(envelope)
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
    await verifyWithAnyKey(read, envelope, sender)
    return true
  } catch (error) {
    if (!(error instanceof SignatureProblem)) throw error
    throw new RequestFault(`err.signature.${error.kind}`, `signature: ${error.message}`)
  }
}

/** True when there is no signature, or a placeholder that peers write in its place (1.4, detail 6). */
function isUnsigned(signature: JsonValue | undefined): boolean {
  if (signature === undefined || signature === null) return true
  return typeof signature === 'string' && isPlaceholder(signature)
}

function readMessageTime(envelope: SignedEnvelope): unknown {
  const header = envelope.member('header')
  return isJsonObject(header) ? header.message_ts : undefined
}

/** Tries each key that fits until one verifies the signature: without a kid, all keys of the algorithm fit. */
async function verifyWithAnyKey(
  read: ReadSignature,
  envelope: SignedEnvelope,
  { keys, withoutKey }: Verification,
): Promise<void> {
  // Errors are slow to make, so the error about a missing key is made only when there is no key.
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

/** The keys and rules that decrypt the messages of one sender. */
export interface Decryption extends DecryptionLimits {
  /** True when the header says that the message is encrypted. */
  readonly encrypted: boolean
  /**
   * The text of the refusal of unencrypted messages (`clear`), and of encrypted ones; null when we accept such messages from the
   * sender.
   */
  readonly refuses: { readonly clear: string | null; readonly encrypted: string | null }
  readonly keys: ResolveKey
  /** Called before decryption; throws when the message must not be decrypted. */
  readonly before?: () => Promise<void>
}

/** The one text for all reasons why decryption fails, so that a peer learns nothing from it. */
export const CANNOT_BE_DECRYPTED = 'message: cannot be decrypted'

/**
 * The message, decrypted if necessary.
 * @throws RequestFault err.encryption.invalid; all failures of decryption have one text, and `reason` has the failed step
 */
export async function openMessage(message: JsonObject, sender: Decryption): Promise<JsonObject> {
  const { encrypted, refuses } = sender
  const problem = findEncryptionMismatch(encrypted, message) ?? refuses[encrypted ? 'encrypted' : 'clear']
  if (problem !== null) throw encryptionFault(problem)
  if (!encrypted) return message
  await sender.before?.()
  try {
    return (await decryptMessage(message, sender.keys, sender)).message
  } catch (error) {
    if (!(error instanceof EncryptionProblem)) throw error
    throw decryptionFault(error.step)
  }
}

/** Makes the refusal of a message because of its encryption. */
export const encryptionFault = (message: string): RequestFault => new RequestFault('err.encryption.invalid', message)

/** Makes the refusal of a message that cannot be decrypted. @param step the step that failed, for our own log only */
export const decryptionFault = (step: string): RequestFault =>
  Object.assign(encryptionFault(CANNOT_BE_DECRYPTED), { reason: `decryption_${step}` })
