/** Whether a message is signed as its sender was registered to sign (spec "Authentication" 2, D16 to D18). */

import {
  checkFreshness,
  isJsonObject,
  isPlaceholder,
  type JsonValue,
  type ReadSignature,
  RequestFault,
  readSignature,
  SignatureProblem,
  type SignedEnvelope,
  verifySignature,
} from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Participant } from '../model/participant.ts'

/** What a signature policy asks of a message. A policy is one of these rows, never a branch. */
interface Policy {
  /** The signature is looked at. */
  readonly looks: boolean
  /** A message may come without one. */
  readonly mayBeAbsent: boolean
  /** A signature without times of its own is held to the time of its message. */
  readonly datesMessages: boolean
}

const POLICIES: Readonly<Record<Participant['signature_policy'], Policy>> = {
  required: { looks: true, mayBeAbsent: false, datesMessages: true },
  'if-present': { looks: true, mayBeAbsent: true, datesMessages: false },
  off: { looks: false, mayBeAbsent: true, datesMessages: false },
}

/**
 * Verifies the signature of an envelope under its sender's policy and profile: read strictly, fresh, made with a
 * live key of this very participant. What was parsed is what was signed; it must not be changed before.
 * @param options.callback whether it came on a callback path, where a message may be days old (N16)
 * @returns whether a signature was verified
 * @throws RequestFault err.signature.missing, err.signature.invalid; the text names the rule
 */
export async function verifyEnvelope(
  context: Context,
  participant: Participant,
  envelope: SignedEnvelope,
  { callback = false }: { readonly callback?: boolean } = {},
): Promise<boolean> {
  const policy = POLICIES[participant.signature_policy]
  if (!policy.looks) return false
  const signature = envelope.member('signature')
  if (policy.mayBeAbsent && isUnsigned(signature)) return false
  try {
    const profile = participant.signature_profile
    const read = readSignature(signature, { profile, namespaces: context.signatureNamespaces.read })
    if (read.expires !== null || policy.datesMessages) {
      checkFreshness({
        ...read,
        profile,
        message_ts: messageTime(envelope),
        now: Date.now() / 1_000,
        skew: context.limits.clock_skew,
        callback,
      })
    }
    await verifyWithLiveKeys(context, participant, envelope, read)
    return true
  } catch (error) {
    if (error instanceof SignatureProblem) {
      throw new RequestFault(`err.signature.${error.kind}`, `signature: ${error.message}`)
    }
    throw error
  }
}

/** Absent, empty, or one of the closed list of words that peers put where a signature will be (1.4, detail 6). */
function isUnsigned(signature: JsonValue | undefined): boolean {
  if (signature === undefined || signature === null) return true
  return typeof signature === 'string' && isPlaceholder(signature)
}

function messageTime(envelope: SignedEnvelope): unknown {
  const header = envelope.member('header')
  return isJsonObject(header) ? header.message_ts : undefined
}

/** A signature that names no key is tried with each live key of its algorithm. */
async function verifyWithLiveKeys(
  context: Context,
  participant: Participant,
  envelope: SignedEnvelope,
  read: ReadSignature,
): Promise<void> {
  const keys = await context.peerKeys.verifying(participant, read.kid, read.algorithm)
  let problem: SignatureProblem | undefined
  for (const key of keys) {
    try {
      await verifySignature(read, envelope, key)
      return
    } catch (error) {
      if (!(error instanceof SignatureProblem)) throw error
      problem = error
    }
  }
  throw (
    problem ??
    new SignatureProblem(
      'invalid',
      "no live key of the sender has the signature's key id and algorithm: register the key, or sign with a registered one",
    )
  )
}
