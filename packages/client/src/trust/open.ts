/** Opens what peers send: the frame, its signature, its encryption. Everything that is wrong is a RequestFault. */
import {
  checkFreshness,
  DEFAULT_SIGNATURE_PROFILE,
  decryptMessage,
  EncryptionProblem,
  encryptionProblem,
  isJsonObject,
  isPlaceholder,
  isResultEncrypted,
  type JsonBounds,
  JsonError,
  type JsonObject,
  type JsonValue,
  type ReadSignature,
  RequestFault,
  readSignature,
  SignatureProblem,
  type SignatureProfile,
  SourcedEnvelope,
  tolerateEnvelope,
  tolerateHeader,
  type Validator,
  verifySignature,
} from '@rollcall/protocol'
import type { OpeningKeys } from './own-keys.ts'
import type { PeerKeys } from './peer-keys.ts'

/** What is asked of the signatures of a peer (D18). */
export type SignaturePolicy = 'required' | 'if-present' | 'off'

const POLICIES = {
  required: { looks: true, mayBeAbsent: false },
  'if-present': { looks: true, mayBeAbsent: true },
  off: { looks: false, mayBeAbsent: true },
} as const satisfies Record<SignaturePolicy, object>

/** The values of `namespace` that are seen (D17). */
export const NAMESPACES: readonly string[] = ['registry', 'reg', 'rollcall', 'spdci', 'dci', 'g2p', 'ns']

/** What must be known of a peer to believe it. */
export interface Trust {
  readonly keys: PeerKeys
  readonly signature: SignaturePolicy
  readonly profile: SignatureProfile
  readonly namespaces: readonly string[]
  /** Its messages must come encrypted. */
  readonly encrypted: boolean
  /** Its callbacks may repeat the addresses of the request. */
  readonly repeats_addresses: boolean
}

export const DEFAULT_TRUST = {
  signature: 'required',
  profile: DEFAULT_SIGNATURE_PROFILE,
  namespaces: NAMESPACES,
  encrypted: false,
  repeats_addresses: false,
} as const

/** An envelope with its header in canonical spelling. */
export interface Frame {
  readonly source: SourcedEnvelope
  readonly header: JsonObject
  /** Not opened and not checked yet; undefined when there is none. */
  readonly message: JsonObject | undefined
}

/**
 * @param headers what the header must satisfy
 * @param bounds counted while the text is read
 * @throws RequestFault err.request.bad
 */
export function readFrame(text: string, headers: Validator, bounds?: JsonBounds): Frame {
  const source = parsed(text, bounds)
  const envelope = tolerateEnvelope(source.value)
  if (!isJsonObject(envelope)) throw bad('body: must be a JSON object with header and message')
  const { header, message } = envelope
  if (!isJsonObject(header)) throw bad('header: must be an object')
  const absent = message === undefined || message === null
  if (!absent && !isJsonObject(message)) throw bad('message: must be an object')
  const tolerated = tolerateHeader(header)
  const problem = headers.problem(tolerated, 'header')
  if (problem !== null) throw bad(problem)
  return { source, header: tolerated as JsonObject, message: absent ? undefined : message }
}

function parsed(text: string, bounds?: JsonBounds): SourcedEnvelope {
  try {
    return new SourcedEnvelope(text, bounds)
  } catch (error) {
    if (error instanceof JsonError) throw bad(error.message)
    throw error
  }
}

/**
 * Verifies the signature under the policy for its sender. What was parsed is what was signed.
 * @param callback whether it came on a callback path, where a message may be days old (N16)
 * @returns whether it is signed
 * @throws RequestFault err.signature.missing, err.signature.invalid
 */
export async function verify(frame: Frame, trust: Trust, callback: boolean): Promise<boolean> {
  const policy = POLICIES[trust.signature]
  const signature = frame.source.member('signature')
  if (!policy.looks || (policy.mayBeAbsent && isUnsigned(signature))) return false
  try {
    const { profile, namespaces } = trust
    const read = readSignature(signature, { profile, namespaces })
    const { message_ts } = frame.header
    checkFreshness({ ...read, profile, message_ts, now: Date.now() / 1_000, callback })
    await verifyWithAny(frame.source, trust.keys, read)
    return true
  } catch (error) {
    if (!(error instanceof SignatureProblem)) throw error
    throw new RequestFault(`err.signature.${error.kind}`, `signature: ${error.message}`)
  }
}

function isUnsigned(signature: JsonValue | undefined): boolean {
  if (signature === undefined || signature === null) return true
  return typeof signature === 'string' && isPlaceholder(signature)
}

/** A signature that names no key is tried with each key of its algorithm. */
async function verifyWithAny(source: SourcedEnvelope, keys: PeerKeys, read: ReadSignature): Promise<void> {
  let problem = new SignatureProblem(
    'invalid',
    "no key of the sender has the signature's key id and algorithm: compare its key set with the signature",
  )
  for (const key of await keys.verifying(read.kid, read.algorithm)) {
    try {
      await verifySignature(read, source, key)
      return
    } catch (error) {
      if (!(error instanceof SignatureProblem)) throw error
      problem = error
    }
  }
  throw problem
}

export interface Opened {
  /** In clear. */
  readonly message: JsonObject
  readonly encrypted: boolean
}

/**
 * The message in clear; undefined when there is none. One answer for every way in which opening fails.
 * @throws RequestFault err.encryption.invalid
 */
export async function openMessage(
  { header, message }: Frame,
  { encrypted: mustBeEncrypted }: Pick<Trust, 'encrypted'>,
  keys: OpeningKeys,
  maxBytes: number,
  bounds?: JsonBounds,
): Promise<Opened | undefined> {
  if (message === undefined) return undefined
  const encrypted = isResultEncrypted(header, message)
  const problem = encryptionProblem(encrypted, message)
  if (problem !== null) throw invalid(problem)
  if (!encrypted) {
    if (mustBeEncrypted) throw invalid('message: must be encrypted')
    return { message, encrypted }
  }
  try {
    const limits = { maxCiphertextBytes: maxBytes, ...(bounds && { bounds }) }
    return { message: (await decryptMessage(message, keys, limits)).message, encrypted }
  } catch (error) {
    if (!(error instanceof EncryptionProblem)) throw error
    throw invalid('message: cannot be opened')
  }
}

const bad = (message: string): RequestFault => new RequestFault('err.request.bad', message)
const invalid = (message: string): RequestFault => new RequestFault('err.encryption.invalid', message)
