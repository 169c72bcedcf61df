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
import { LARGE, type ReadingThreads } from '../reading/threads.ts'
import type { PeerKeys } from './peer-keys.ts'

/** What verifying needs. */
export interface Verifying {
  readonly peerKeys: Pick<PeerKeys, 'verifying' | 'verified'>
  /** Values of `namespace` that are accepted (D17). */
  readonly signatureNamespaces: { readonly read: readonly string[] }
  readonly limits: Pick<Limits, 'clock_skew'>
}

/**
 * Verifies the signature of an envelope under its sender's policy and profile: read strictly, fresh, made with a
 * live key of this very participant. What was parsed is what was signed; it must not be changed before.
 * @param options.callback whether it came on a callback path, where a message may be days old (N16)
 * @returns the signature that was verified; null: there is none, or it is not checked
 * @throws RequestFault err.signature.missing, err.signature.invalid; the text names the rule
 */
export async function verifyEnvelope(
  { peerKeys, signatureNamespaces, limits }: Verifying,
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
    now: Date.now() / 1_000,
    skew: limits.clock_skew,
    callback,
    result: callback,
  })
  if (verified && kid !== null) await peerKeys.verified(participant, kid)
  return verified ? { kid, value: String(envelope.member('signature')) } : null
}

/** The signature of a message, as it stands there. */
export interface Signature {
  /** Of the key; null where the signature does not name it. */
  readonly kid: string | null
  readonly value: string
}

/** Why a policy refuses messages in clear, or encrypted messages; null: it takes them. */
const REFUSES: Readonly<Record<Participant['encryption_policy'], { clear: string | null; encrypted: string | null }>> =
  {
    required: { clear: 'message: must be encrypted', encrypted: null },
    allowed: { clear: null, encrypted: null },
    refused: { clear: null, encrypted: 'message: this participant is registered to send in clear' },
  }

/** What decrypting needs. */
export interface Opening {
  /** Our own keys. */
  readonly keys: { readonly decryption: ResolveKey }
  readonly peerKeys: Pick<PeerKeys, 'encryption'>
  /** Remembers with which message a ciphertext came first. */
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
 * The message in clear. All encrypted messages that cannot be decrypted are refused with one text. So is a ciphertext that
 * was copied from another message: its sender would learn what it says, if only by a rejection.
 * @param row whose message it is
 * @param options.answered whether an answer is to follow that has to be encrypted as well; an ack never is
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
      large: { from: LARGE, read: (text: string) => readLargeMessage(opening, row, participant.id, text, bounds) },
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

/** What signing and encrypting need. */
export interface Signing {
  /** Says when a message is signed. */
  readonly clock: Pick<Clock, 'date'>
  /** Our own keys. */
  readonly keys: { signing(algorithm: SigningKey['algorithm']): Promise<Omit<SigningKey, 'sender_id'>> }
  readonly peerKeys: Pick<PeerKeys, 'encryption'>
  /** The `namespace` that we write. */
  readonly signatureNamespaces: { readonly written: string }
}

/**
 * The body of an outgoing envelope, signed, as canonical JSON text: what is signed is, byte for byte, what is sent.
 *
 * @param header without is_msg_encrypted, which is set here
 * @param encrypt whether the message must be encrypted for the participant
 * @param alsoBare whether the members of a message in clear stand beside the envelope's as well
 * @throws RequestFault err.encryption.invalid when it must and the participant has no usable key, or none any more:
 * nothing goes out in clear then
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
