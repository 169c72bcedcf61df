/** Opens messages of peers: envelope, signature, encryption. A fault of the message is thrown as a RequestFault. */
import {
  CallbackHeader,
  DEFAULT_SIGNATURE_PROFILE,
  type DecryptionKeys,
  type InUtc,
  inUtc,
  isJsonObject,
  isResultEncrypted,
  type JsonBounds,
  JsonError,
  type JsonObject,
  openMessage,
  RequestFault,
  SIGNATURE_RULES,
  type SignaturePolicy,
  type SignatureProfile,
  SourcedEnvelope,
  tolerateEnvelope,
  tolerateHeader,
  tolerateUnsignedAnswer,
  type Validator,
  verifyEnvelope,
} from '@rollcall/protocol'
import type { HttpSettings } from '../http/post.ts'
import { fetchedKeySet, givenKeySet, type JwkSet, type PeerKeys, peerKeys } from './peer-keys.ts'

/** The values of `namespace` that are accepted in signatures by default (D17). */
export const SIGNATURE_NAMESPACES: readonly string[] = ['registry', 'reg', 'rollcall', 'spdci', 'dci', 'g2p', 'ns']

/** How messages of a peer are verified and decrypted. */
export interface PeerTrustSettings {
  readonly keys: PeerKeys
  readonly signature: SignaturePolicy
  readonly profile: SignatureProfile
  readonly namespaces: readonly string[]
  /** True when the peer's messages must be encrypted. */
  readonly encrypted: boolean
  /**
   * True when the peer's callbacks may repeat the header of the request, with our id as sender_id and the peer's as receiver_id.
   */
  readonly repeats_addresses: boolean
}

/** The options for a peer: its keys or their address. For the other members, `makePeerTrust` has defaults. */
export type TrustOptions = Partial<Omit<PeerTrustSettings, 'keys'>> & { readonly keys?: JwkSet | string | undefined }

/** Makes the `PeerTrustSettings` for a peer. @throws TypeError the keys are not a set of public keys */
export function makePeerTrust({ keys = { keys: [] }, ...peer }: TrustOptions, http: HttpSettings): PeerTrustSettings {
  return {
    keys: peerKeys(typeof keys === 'string' ? fetchedKeySet(http, keys) : givenKeySet(keys)),
    signature: peer.signature ?? 'required',
    profile: peer.profile ?? DEFAULT_SIGNATURE_PROFILE,
    namespaces: peer.namespaces ?? SIGNATURE_NAMESPACES,
    encrypted: peer.encrypted ?? false,
    repeats_addresses: peer.repeats_addresses ?? false,
  }
}

/** An envelope with its header in canonical spelling. */
export interface ParsedEnvelope {
  readonly source: SourcedEnvelope
  readonly header: JsonObject
  /** The message, not decrypted and not checked yet; undefined when it is missing. */
  readonly message: JsonObject | undefined
  /** The places of the times in the header that have no zone and are read as UTC. */
  readonly assumed_utc: InUtc['assumed_utc']
}

/** For each sort of message, the function that brings its header into canonical spelling. */
const HEADER_TOLERANCE_BY_MESSAGE = {
  answer: tolerateHeader,
  'unsigned answer': tolerateUnsignedAnswer,
  callback: tolerateHeader,
  question: tolerateHeader,
} as const

/**
 * The sort of a message. In a question, times must have a zone. A callback may be days old, because the registry sends it again
 * until it is acknowledged (N16).
 */
export type MessageSort = 'answer' | 'callback' | 'question'

/**
 * Reads an envelope.
 * @param headers the schema of the header
 * @param bounds limits while the text is read
 * @throws RequestFault err.request.bad
 */
export function readEnvelope(
  text: string,
  sent: keyof typeof HEADER_TOLERANCE_BY_MESSAGE,
  headers: Validator,
  bounds?: JsonBounds,
): ParsedEnvelope {
  const source = parseEnvelopeText(text, bounds)
  const envelope = tolerateEnvelope(source.value)
  if (!isJsonObject(envelope)) throw badRequest('body: must be a JSON object with header and message')
  const { header, message } = envelope
  if (!isJsonObject(header)) throw badRequest('header: must be an object')
  const absent = message === undefined || message === null
  if (!absent && !isJsonObject(message)) throw badRequest('message: must be an object')
  const tolerated = HEADER_TOLERANCE_BY_MESSAGE[sent](header)
  const { value, assumed_utc } =
    sent === 'question' ? { value: tolerated, assumed_utc: [] } : inUtc(CallbackHeader, tolerated, 'header')
  const problem = headers.problem(value, 'header')
  if (problem !== null) throw badRequest(problem)
  return { source, header: value as JsonObject, message: absent ? undefined : message, assumed_utc }
}

function parseEnvelopeText(text: string, bounds?: JsonBounds): SourcedEnvelope {
  try {
    return new SourcedEnvelope(text, bounds)
  } catch (error) {
    if (error instanceof JsonError) throw badRequest(error.message)
    throw error
  }
}

/**
 * Verifies the signature of the received text, by the policy for its sender. When a signature has no times, the `message_ts` of
 * the header is checked instead.
 * @returns true when a signature was verified
 * @throws RequestFault err.signature.missing, err.signature.invalid
 */
export function verifySignatureOf({ source }: ParsedEnvelope, trust: PeerTrustSettings, kind: MessageSort): Promise<boolean> {
  const { profile, namespaces } = trust
  return verifyEnvelope(source, {
    rules: { ...SIGNATURE_RULES[trust.signature], datesMessages: true },
    profile,
    namespaces,
    keys: trust.keys.verifying,
    withoutKey: "no key of the sender has the signature's key id and algorithm: compare its key set with the signature",
    now: Date.now() / 1_000,
    callback: kind === 'callback',
    result: kind !== 'question',
  })
}

/** A message, decrypted if it was encrypted. */
export interface OpenedMessage {
  readonly message: JsonObject
  readonly encrypted: boolean
}

/** Decrypts the message; undefined when there is none. @throws RequestFault err.encryption.invalid */
export async function openEnvelope(
  { header, message }: ParsedEnvelope,
  { encrypted: mustBeEncrypted }: Pick<PeerTrustSettings, 'encrypted'>,
  keys: DecryptionKeys,
  maxCiphertextBytes: number,
  bounds?: JsonBounds,
): Promise<OpenedMessage | undefined> {
  if (message === undefined) return undefined
  const encrypted = isResultEncrypted(header, message)
  const opened = await openMessage(message, {
    encrypted,
    refuses: { clear: mustBeEncrypted ? 'message: must be encrypted' : null, encrypted: null },
    keys,
    maxCiphertextBytes,
    ...(bounds && { bounds }),
  })
  return { message: opened, encrypted }
}

/** The refusal of a request that breaks a rule: 400 err.request.bad. */
export const badRequest = (message: string): RequestFault => new RequestFault('err.request.bad', message)

/**
 * True when a header has the addresses of our own request: some registries repeat them, so `sender_id` is ours and
 * `receiver_id` the registry's. Only the signature shows that the registry wrote it.
 */
export function hasRequestSenderAndReceiver(
  { sender_id, receiver_id }: JsonObject,
  ourselves: readonly string[],
  registry: string | undefined,
): boolean {
  return typeof sender_id === 'string' && ourselves.includes(sender_id) && receiver_id === registry
}

/** Exchanges sender_id and receiver_id in a header that repeats them as in the request. */
export function swapSenderAndReceiver(header: JsonObject): JsonObject {
  const { sender_id, receiver_id, ...rest } = header
  return {
    ...rest,
    ...(receiver_id !== undefined && { sender_id: receiver_id }),
    ...(sender_id !== undefined && { receiver_id: sender_id }),
  }
}
