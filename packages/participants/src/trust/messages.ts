/** Verifies, decrypts, signs and encrypts the messages of participants (spec "Authentication", D16 to D20). */

import type { Clock } from '@rollcall/base/shared/clock'
import type { Limits } from '@rollcall/core/limits'
import type { Exchange } from '@rollcall/core/model/exchange'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import {
  type Callback,
  ciphertextFingerprint,
  decryptionFault,
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
  signatureWithoutPayload,
  signedEnvelope,
  verifyEnvelope as verifyWith,
} from '@rollcall/protocol'
import { messageBounds } from '../reading/envelope.ts'
import { readLargeMessage } from '../reading/large.ts'
import { LEAST_LARGE_TEXT_LENGTH, type ReadingThreads } from '../reading/threads.ts'
import type { PeerKeys } from './peer-keys.ts'

/** The dependencies of `verifyEnvelope`. */
export interface VerifyDeps {
  readonly clock: Pick<Clock, 'date'>
  readonly peerKeys: Pick<PeerKeys, 'verifying' | 'noteKeyUse'>
  /** The accepted values of `namespace` in a signature (D17). */
  readonly signatureNamespaces: { readonly read: readonly string[] }
}

/** The most seconds by which a signer's clock may differ from ours, as the specification allows. */
const CLOCK_SKEW_SECONDS = 60

/**
 * Verifies the signature of an envelope by the policy and profile of its sender. The signature must be well-formed and fresh, and
 * a valid key of the participant must have made it. The caller gives the envelope as it was received.
 * @param options.callback true for a callback, whose message may be days old (N16)
 * @returns the verified signature; null when there is none, or the policy does not check it
 * @throws RequestFault err.signature.missing, err.signature.invalid; the text names the rule
 */
export async function verifyEnvelope(
  { clock, peerKeys, signatureNamespaces }: VerifyDeps,
  participant: Participant,
  envelope: SignedEnvelope,
  { callback = false }: { readonly callback?: boolean } = {},
): Promise<MessageSignature | null> {
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
    skew: CLOCK_SKEW_SECONDS,
    callback,
    result: callback,
  })
  if (!verified) return null
  if (kid !== null) await peerKeys.noteKeyUse(participant, kid)
  return { kid, value: signatureWithoutPayload(String(envelope.member('signature')), participant.signature_profile) }
}

/** A verified or written signature of a message. */
export interface MessageSignature {
  /** The kid of the key that signed; null when the signature names none. */
  readonly kid: string | null
  /** The text of the signature, for the audit log: a JWS is without its payload. */
  readonly value: string
}

/** For each encryption policy: why it refuses messages in clear, and why encrypted ones; null when it accepts such messages. */
const REFUSALS_BY_ENCRYPTION_POLICY: Readonly<
  Record<Participant['encryption_policy'], { clear: string | null; encrypted: string | null }>
> = {
  required: { clear: 'message: must be encrypted', encrypted: null },
  allowed: { clear: null, encrypted: null },
  refused: { clear: null, encrypted: 'message: this participant is registered to send in clear' },
}

/** The dependencies of `openMessage`. */
export interface OpenDeps {
  /** Our own keys, with which messages are decrypted. */
  readonly keys: { readonly decryption: ResolveKey }
  readonly peerKeys: Pick<PeerKeys, 'encryption'>
  /** Stores the message in which a ciphertext came first. @returns false when another message had this ciphertext before */
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
 * Returns a message, decrypted if its header says that it is encrypted. All messages that cannot be decrypted are refused with
 * the same text, and so is a message whose ciphertext came in another message before. A sender who copied a ciphertext thus
 * learns nothing of its content.
 * @param row the message's row in the tables of operations and callbacks
 * @param options.answered true by default: the sender of an encrypted message must then have a key for the encrypted answer;
 * false when only an ack follows, which is never encrypted
 * @throws RequestFault err.encryption.invalid
 */
export async function openMessage(
  opening: OpenDeps,
  { participant, header, encrypted }: Pick<Exchange, 'participant' | 'header' | 'encrypted'>,
  row: Operation | Callback,
  message: JsonObject,
  { answered = true }: { readonly answered?: boolean } = {},
): Promise<JsonObject> {
  const { keys, limits, ciphertexts } = opening
  const bounds = messageBounds(limits, 'request' in row ? row.request : row.message)
  const opened = await openWith(message, {
    encrypted,
    refuses: REFUSALS_BY_ENCRYPTION_POLICY[participant.encryption_policy],
    keys: keys.decryption,
    maxCiphertextBytes: limits.body_bytes,
    bounds,
    // The answer to an encrypted request is encrypted. Without a key for it, no record is searched.
    before: async () => {
      if (answered) await requirePeerEncryptionKey(opening, participant)
    },
    // Large requests are read on a thread. Large callbacks are read here, because their schemas depend on the registry's kind.
    ...('request' in row && {
      large: {
        from: LEAST_LARGE_TEXT_LENGTH,
        read: (text: string) => readLargeMessage(opening, row, participant.id, text, bounds),
      },
    }),
  })
  if (!encrypted) return opened
  const { encrypted_key, tag } = message
  const parts = { encrypted_key: String(encrypted_key), tag: String(tag) }
  const fingerprint = Buffer.from(await ciphertextFingerprint(parts))
  const { message_id } = header
  const own = await ciphertexts.remember({ fingerprint, participant: participant.id, message_id })
  if (!own) throw decryptionFault('copied')
  return opened
}

async function requirePeerEncryptionKey({ peerKeys }: Pick<OpenDeps, 'peerKeys'>, participant: Participant) {
  const key = await peerKeys.encryption(participant)
  if (key !== null) return key
  throw encryptionFault('message: there is no usable key of the sender to encrypt the answer with')
}

/** The dependencies of `encryptAndSignEnvelope`. */
export interface SignDeps {
  /** The time at which a message is signed. */
  readonly clock: Pick<Clock, 'date'>
  /** Our own keys, with which messages are signed. */
  readonly keys: { signing(algorithm: SigningKey['algorithm']): Promise<Omit<SigningKey, 'sender_id'>> }
  readonly peerKeys: Pick<PeerKeys, 'encryption'>
  /** The `namespace` in the signatures that we write. */
  readonly signatureNamespaces: { readonly written: string }
}

/**
 * Encrypts the message of an outgoing envelope if `encrypt` is true, and signs header and message as they are sent.
 * @param envelope its header is without is_msg_encrypted, which is set here
 * @param encrypt whether the message must be encrypted for the participant
 * @param alsoBare true: the body has the members of a message in clear also beside `header` and `message`, for receivers that
 * expect no envelope
 * @returns the body to send, as canonical JSON text with header and message exactly as they were signed; the signature
 * @throws RequestFault err.encryption.invalid: the participant has no usable key for encryption; nothing is sent in clear
 */
export async function encryptAndSignEnvelope(
  signing: SignDeps,
  registry: Pick<Registry, 'sender_id'>,
  participant: Participant,
  envelope: { readonly header: object; readonly message: object },
  encrypt: boolean,
  alsoBare = false,
): Promise<{ readonly text: string; readonly signature: MessageSignature | null }> {
  const prepared = await prepareEnvelope(envelope, encrypt ? await requirePeerEncryptionKey(signing, participant) : null)
  const profile = participant.signature_profile
  const own = await signing.keys.signing(replyAlgorithm(profile))
  const key = { ...own, sender_id: registry.sender_id }
  const signer = { key, profile, namespace: signing.signatureNamespaces.written, lifetime: SIGNATURE_LIFETIME }
  const beside = alsoBare && !encrypt ? envelope.message : {}
  const { text, signature } = await signedEnvelope(prepared, signer, signing.clock.date(), beside)
  const value = signature === null ? null : signatureWithoutPayload(signature, profile)
  return { text, signature: value === null ? null : { kid: key.kid, value } }
}
