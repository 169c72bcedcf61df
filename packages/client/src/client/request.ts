/** Sends one request, with retries; then verifies and decrypts the answer. */
import {
  assumedUtc,
  CallbackHeader,
  inUtc,
  type JsonObject,
  KINDS,
  type Operation,
  PROTOCOL_VERSION,
  type Prepared,
  prepareEnvelope,
  RequestFault,
  receivedSchema,
  signedBody,
  tolerateMessage,
  type Validator,
  validator,
} from '@rollcall/protocol'
import { HeaderRejected, TransportError, UntrustedAnswer } from '../errors.ts'
import { type HttpAnswer, sendOnce } from '../http/post.ts'
import { type AnswerAfterAttempts, awaitUnlessAborted, withRetries } from '../http/retry.ts'
import {
  hasRequestSenderAndReceiver,
  openEnvelope,
  readEnvelope,
  swapSenderAndReceiver,
  verifySignatureOf,
} from '../trust/open.ts'
import { wrapBareAnswer } from './bare-answer.ts'
import { readAck, readEnvelopeAck, readFault } from './faults.ts'
import type { Accepted, Answer, RequestOptions } from './messages.ts'
import { OUTGOING } from './outgoing.ts'
import { pathAtRegistry } from './paths.ts'
import type { Settings } from './settings.ts'

/** A request: its operation, its content and the options of the caller. */
export interface RequestToSend {
  readonly operation: Operation
  /** The message without its transaction_id. */
  readonly content: object
  readonly options: RequestOptions
}

/**
 * Sends a request on the operation's synchronous path.
 * @throws TransportError, AckError, HeaderRejected, UntrustedAnswer, TokenRefused
 */
export async function askRegistry(settings: Settings, asked: RequestToSend): Promise<Answer<object>> {
  const { operation, options } = asked
  const [path = ''] = operation.sync_paths
  const transaction_id = options.transaction_id ?? crypto.randomUUID()
  const prepared = await prepareRequest(settings, asked, transaction_id, undefined)
  const answer = await sendWithRetries(settings, operationUrl(settings, operation, path), prepared, options.signal)
  const fault = readFault(answer)
  if (fault !== null) throw fault
  return withFaultsAsClientErrors(answer, () =>
    // To open the answer, keys may have to be fetched, so the signal can abort this too.
    awaitUnlessAborted(() => openAnswer(settings, operation, answer, transaction_id), options.signal),
  )
}

/**
 * Sends a request on the operation's asynchronous path; the result comes by callback.
 * @throws TransportError, AckError, TokenRefused; UntrustedAnswer when there is no key to encrypt the request
 */
export async function sendAsyncRequest(settings: Settings, asked: RequestToSend): Promise<Accepted> {
  const { operation, options } = asked
  const [path = ''] = operation.async_paths
  const transaction_id = options.transaction_id ?? crypto.randomUUID()
  const sender_uri = operation.callback === null ? undefined : settings.senderUri(operation.callback)
  const prepared = await prepareRequest(settings, asked, transaction_id, sender_uri)
  const answer = await sendWithRetries(settings, operationUrl(settings, operation, path), prepared, options.signal)
  const fault = readFault(answer)
  if (fault !== null) throw fault
  const ack = readAck(answer) ?? readEnvelopeAck(operation, answer)
  if (ack === null) throw unreadableAnswer(answer, 'the answer is no ack')
  return { ...ack, transaction_id }
}

const operationUrl = ({ base_url, paths }: Settings, operation: Operation, path: string): string =>
  `${base_url}/${pathAtRegistry(paths, operation, path)}`

async function prepareRequest(
  settings: Settings,
  { operation, content, options }: RequestToSend,
  transaction_id: string,
  sender_uri: string | undefined,
): Promise<Prepared> {
  const { sender_id, receiver_id, encryptFor } = settings
  const key = encryptFor === null ? null : await awaitUnlessAborted(encryptFor, options.signal)
  if (encryptFor !== null && key === null) {
    // Without the registry's key the request cannot be encrypted, and it must not be sent unencrypted.
    const reason = 'the registry publishes no key to encrypt with'
    throw new UntrustedAnswer('err.encryption.invalid', reason, ['encryption.encrypt_for'])
  }
  const { items } = operation.request
  const batch = items === null ? undefined : (content as Record<string, unknown>)[items]
  const header = {
    version: PROTOCOL_VERSION,
    message_id: crypto.randomUUID(),
    message_ts: new Date().toISOString(),
    action: operation.action,
    sender_id,
    ...(sender_uri !== undefined && { sender_uri }),
    ...(receiver_id !== undefined && { receiver_id }),
    total_count: Array.isArray(batch) ? batch.length : 1,
    meta: { ...options.meta },
  }
  return prepareEnvelope({ header: OUTGOING[settings.outgoing](header), message: { transaction_id, ...content } }, key)
}

/** Sends the same header and message in each attempt, with a new signature. A refused token is renewed once. */
async function sendWithRetries(
  settings: Settings,
  url: string,
  prepared: Prepared,
  signal: AbortSignal | undefined,
): Promise<AnswerAfterAttempts> {
  const { http, tokens, retry } = settings
  const post = async (token: string | undefined): Promise<HttpAnswer> => {
    const body = await signedBody(prepared, await settings.signer(), Date.now())
    const headers = {
      'Content-Type': 'application/json',
      Accept: 'application/json',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    }
    return sendOnce(http, url, { method: 'POST', headers, body }, signal)
  }
  if (tokens === null) return withRetries(() => post(undefined), retry, signal)
  const token = await awaitUnlessAborted(() => tokens.get(), signal)
  const answer = await withRetries(() => post(token), retry, signal)
  if (!refusesToken(answer)) return answer
  const renewed = await awaitUnlessAborted(() => tokens.renew(token), signal)
  return withRetries(() => post(renewed), retry, signal)
}

/** True when the answer refuses the token; false for a 401 that refuses the signature, where a new token would not help. */
function refusesToken(answer: HttpAnswer): boolean {
  return answer.status === 401 && !readFault(answer)?.code.startsWith('err.signature.')
}

const answerHeaderValidator = validator<CallbackHeader>(receivedSchema(CallbackHeader))
const replyValidators = new Map<Operation, Validator>()

async function openAnswer(
  settings: Settings,
  operation: Operation,
  answer: AnswerAfterAttempts,
  transaction_id: string,
): Promise<Answer<object>> {
  const { trust, http } = settings
  const sent = trust.signature === 'off' ? 'unsigned answer' : 'answer'
  const frame = readEnvelope(wrapBareAnswer(answer.text, operation, trust), sent, answerHeaderValidator)
  const signed = await verifySignatureOf(frame, trust, 'answer')
  const header = answerHeaderValidator.checked(requireHeaderToUs(settings, frame.header), 'header', unreadableHeader)
  const opened = await openEnvelope(frame, trust, settings.decryptionKeys, http.maxAnswerBytes)
  const tolerated = opened === undefined ? {} : tolerateMessage({ request: operation.reply }, opened.message)
  const { value, assumed_utc } = inUtc(operation.reply.schema, tolerated, 'message')
  const message = value as JsonObject
  if (isWholeRequestRejected(operation, header, message)) throw new HeaderRejected(header)
  const problem = replyValidatorOf(operation).problem(message, 'message')
  if (problem !== null) throw unreadableAnswer(answer, problem)
  if (message.transaction_id !== transaction_id) {
    throw new UntrustedAnswer('err.request.bad', 'the answer belongs to another transaction')
  }
  const encrypted = opened?.encrypted === true
  return { header, message, signed, encrypted, ...assumedUtc(frame.assumed_utc, assumed_utc) }
}

/**
 * The header of an answer to us. Some registries repeat sender_id and receiver_id of the request; this function then exchanges
 * them. To accept both forms is safe: a signature proves who wrote either, and without one anybody could write either.
 * @throws UntrustedAnswer the answer is for another system
 */
function requireHeaderToUs({ sender_id, receiver_id }: Settings, header: JsonObject): JsonObject {
  if (hasRequestSenderAndReceiver(header, [sender_id], receiver_id)) return swapSenderAndReceiver(header)
  if (header.receiver_id === undefined || header.receiver_id === sender_id) return header
  const code = 'err.receiver_id.invalid'
  if (header.sender_id !== sender_id) {
    throw new UntrustedAnswer(code, 'the answer is for another system', ['sender_id'])
  }
  const reason = 'the answer repeats our sender_id, and names a receiver that the request did not'
  throw new UntrustedAnswer(code, reason, ['receiver_id'])
}

/**
 * True when the header rejects the whole request, and the message has no items. Items have their own reasons, even if all are
 * rejected (N7). A reply to an operation without items rejects the request when its header has a reason code, or its message has
 * no transaction_id.
 */
function isWholeRequestRejected({ reply }: Operation, header: CallbackHeader, message: JsonObject): boolean {
  if (header.status !== 'rjct') return false
  if (reply.items === null) return header.status_reason_code !== undefined || !('transaction_id' in message)
  const items = message[reply.items]
  return !Array.isArray(items) || items.length === 0
}

function replyValidatorOf(operation: Operation): Validator {
  const known = replyValidators.get(operation)
  if (known !== undefined) return known
  const made = validator(receivedSchema(operation.reply.schema, KINDS))
  replyValidators.set(operation, made)
  return made
}

/** Turns RequestFaults into errors for our caller: the protocol package throws them as refusals to a peer. */
async function withFaultsAsClientErrors<Result>(answer: AnswerAfterAttempts, open: () => Promise<Result>): Promise<Result> {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof RequestFault)) throw error
    if (error.code === 'err.request.bad') throw unreadableAnswer(answer, error.message)
    throw new UntrustedAnswer(error.code, error.message, CLIENT_OPTIONS_BY_FAULT[error.code])
  }
}

/** For each code, options of the client that may be wrong when an answer with this fault is not trusted. */
const CLIENT_OPTIONS_BY_FAULT: Readonly<Partial<Record<RequestFault['code'], readonly string[]>>> = {
  'err.signature.missing': ['peer.signature'],
  'err.signature.invalid': ['peer.keys', 'peer.profile'],
  'err.encryption.invalid': ['encryption.keys'],
}

const unreadableHeader = (problem: string): RequestFault => new RequestFault('err.request.bad', problem)

const unreadableAnswer = ({ status, attempts }: AnswerAfterAttempts, message: string): TransportError =>
  new TransportError('unreadable', message, { httpStatus: status, attempts })
