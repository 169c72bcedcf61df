/** Messages from and to participants: verified, decrypted, encrypted and signed (spec "Authentication", D16 to D20). */

import type { Clock } from '@rollcall/base/shared/clock'
import type { Limits } from '@rollcall/core/limits'
import type { Exchange } from '@rollcall/core/model/exchange'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import {
  CANNOT_BE_DECRYPTED,
  type Callback,
  ciphertextFingerprint,
  encryptionFault,
  type JsonObject,
  type Operation,
  openMessage as openWith,
  prepareEnvelope,
  type ResolveKey,
  replyAlgorithm,
  SIGNATURE_LIFETIME,
  SIGNATURE_RULES,
  type SignedEnvelope,
  type SigningKey,
  signedEnvelope,
  verifyEnvelope as verifyWith,
} from '@rollcall/protocol'
import { messageBounds } from '../reading/envelope.ts'
import { readLargeMessage } from '../reading/large.ts'
import { LARGE_TEXT, type ReadingThreads } from '../reading/threads.ts'
import type { PeerKeys } from './peer-keys.ts'

/** The dependencies of verifying. */
export interface Verifying {
  readonly clock: Pick<Clock, 'date'>
  readonly peerKeys: Pick<PeerKeys, 'verifying' | 'verified'>
  /** Accepted values of `namespace` (D17). */
  readonly signatureNamespaces: { readonly read: readonly string[] }
}

/** Seconds by which the clock of a signer may differ from ours: the most that the specification allows. */
const CLOCK_SKEW = 60

/**
 * Verifies the signature of an envelope by the policy and profile of its sender: read strictly, fresh, and made with a
 * live key of this participant. The parsed envelope must not be changed before.
 * @param options.callback whether it came on a callback path, where a message may be days old (N16)
 * @returns the verified signature; null: there is none, or it is not checked
 * @throws RequestFault err.signature.missing, err.signature.invalid; the text names the rule
 */
export async function verifyEnvelope(
  { clock, peerKeys, signatureNamespaces }: Verifying,
  participant: Participant,
  envelope: SignedEnvelope,
  { callback = false }: { readonly callback?: boolean } = {},
): Promise<Signature | null> {
  let kid: string | null = null
  const verified = await verifyWith(envelope, {
    rules: SIGNATURE_RULES[participant.signature_policy],
    profile: participant.signature_profile,
    namespaces: signatureNamespaces.read,
    keys: (named, algorithm) => {
      kid = named
      return peerKeys.verifying(participant, named, algorithm)
    },
    withoutKey:
      "no live key of the sender has the signature's key id and algorithm: register the key, or sign with a registered one",
    now: clock.date() / 1_000,
    skew: CLOCK_SKEW,
    callback,
    result: callback,
  })
  if (verified && kid !== null) await peerKeys.verified(participant, kid)
  return verified ? { kid, value: String(envelope.member('signature')) } : null
}

/** The signature of a message as written. */
export interface Signature {
  /** The id of the key; null where the signature does not name it. */
  readonly kid: string | null
  readonly value: string
}

/** The reasons why a policy refuses messages in clear, or encrypted ones; null: they are accepted. */
const REFUSES: Readonly<Record<Participant['encryption_policy'], { clear: string | null; encrypted: string | null }>> =
  {
    required: { clear: 'message: must be encrypted', encrypted: null },
    allowed: { clear: null, encrypted: null },
    refused: { clear: null, encrypted: 'message: this participant is registered to send in clear' },
  }

/** The dependencies of decrypting. */
export interface Opening {
  /** Our own keys. */
  readonly keys: { readonly decryption: ResolveKey }
  readonly peerKeys: Pick<PeerKeys, 'encryption'>
  /** Remembers the message with which a ciphertext came first. */
  readonly ciphertexts: {
    remember(ciphertext: {
      readonly fingerprint: Buffer
      readonly participant: number
      readonly message_id: string
    }): Promise<boolean>
  }
  readonly limits: Limits
  readonly reading: ReadingThreads
}

/**
 * Decrypts a message. All encrypted messages that cannot be decrypted are refused with one text. A ciphertext that was
 * copied from another message is refused in the same way: its sender could learn its content, if only by a rejection.
 * @param row the row of the message
 * @param options.answered whether an answer follows that must be encrypted too; an ack never is
 * @throws RequestFault err.encryption.invalid
 */
export async function openMessage(
  opening: Opening,
  { participant, header, encrypted }: Pick<Exchange, 'participant' | 'header' | 'encrypted'>,
  row: Operation | Callback,
  message: JsonObject,
  { answered = true }: { readonly answered?: boolean } = {},
): Promise<JsonObject> {
  const { keys, limits, ciphertexts } = opening
  const bounds = messageBounds(limits, 'request' in row ? row.request : row.message)
  const opened = await openWith(message, {
    encrypted,
    refuses: REFUSES[participant.encryption_policy],
    keys: keys.decryption,
    maxCiphertextBytes: limits.body_bytes,
    bounds,
    // An encrypted request is answered encrypted. Without a key for the answer, no record is searched.
    before: async () => {
      if (answered) await answerKey(opening, participant)
    },
    // Large callbacks are read here, because the kind of the registry decides as well how they are read.
    ...('request' in row && {
      large: { from: LARGE_TEXT, read: (text: string) => readLargeMessage(opening, row, participant.id, text, bounds) },
    }),
  })
  if (!encrypted) return opened
  const { encrypted_key, tag } = message
  const parts = { encrypted_key: String(encrypted_key), tag: String(tag) }
  const fingerprint = Buffer.from(await ciphertextFingerprint(parts))
  const { message_id } = header
  const own = await ciphertexts.remember({ fingerprint, participant: participant.id, message_id })
  if (!own) throw encryptionFault(CANNOT_BE_DECRYPTED)
  return opened
}

async function answerKey({ peerKeys }: Pick<Opening, 'peerKeys'>, participant: Participant) {
  const key = await peerKeys.encryption(participant)
  if (key !== null) return key
  throw encryptionFault('message: there is no usable key of the sender to encrypt the answer with')
}

/** The dependencies of signing and encrypting. */
export interface Signing {
  /** The time at which a message is signed. */
  readonly clock: Pick<Clock, 'date'>
  /** Our own keys. */
  readonly keys: { signing(algorithm: SigningKey['algorithm']): Promise<Omit<SigningKey, 'sender_id'>> }
  readonly peerKeys: Pick<PeerKeys, 'encryption'>
  /** The `namespace` that we write. */
  readonly signatureNamespaces: { readonly written: string }
}

/**
 * Signs an outgoing envelope, and returns its body as canonical JSON text: exactly the signed bytes are sent.
 * @param header without is_msg_encrypted, which is set here
 * @param encrypt whether the message must be encrypted for the participant
 * @param alsoBare whether the members of a message in clear are also written beside the envelope's
 * @throws RequestFault err.encryption.invalid: it must be encrypted, but the participant has no usable key; nothing is
 * sent in clear
 */
export async function signEnvelope(
  signing: Signing,
  registry: Pick<Registry, 'sender_id'>,
  participant: Participant,
  envelope: { readonly header: object; readonly message: object },
  encrypt: boolean,
  alsoBare = false,
): Promise<{ readonly text: string; readonly signature: Signature | null }> {
  const prepared = await prepareEnvelope(envelope, encrypt ? await answerKey(signing, participant) : null)
  const profile = participant.signature_profile
  const own = await signing.keys.signing(replyAlgorithm(profile))
  const key = { ...own, sender_id: registry.sender_id }
  const signer = { key, profile, namespace: signing.signatureNamespaces.written, lifetime: SIGNATURE_LIFETIME }
  const beside = alsoBare && !encrypt ? envelope.message : {}
  const { text, signature } = await signedEnvelope(prepared, signer, signing.clock.date(), beside)
  return { text, signature: signature === null ? null : { kid: key.kid, value: signature } }
}
