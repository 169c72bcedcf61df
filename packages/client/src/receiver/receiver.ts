/** Receives callbacks, and answers some questions: a handler of web-standard requests, at any address. */
import {
  ACCEPTED_TYPES,
  CALLBACKS,
  type DecryptionKeys,
  decryptionKeys,
  IncomingHeader,
  isSpokenVersion,
  type Jwk,
  type Message,
  RequestFault,
  type SignaturePolicy,
  type SignatureProfile,
  type Signer,
  type Validator,
  validator,
} from '@rollcall/protocol'
import { checkKind, type KindName } from '../client/records.ts'
import type { Fetch } from '../http/fetch.ts'
import {
  hasRequestSenderAndReceiver,
  makePeerTrust,
  openEnvelope,
  type ParsedEnvelope,
  type PeerTrustSettings,
  readEnvelope,
  swapSenderAndReceiver,
  verifySignatureOf,
} from '../trust/open.ts'
import { type Signing, signerOf } from '../trust/own-keys.ts'
import type { JwkSet } from '../trust/peer-keys.ts'
import { ackResponse, refusalResponse, UnknownSender } from './acks.ts'
import type { AwaitOptions, Handlers, Received, Rejected, ReplyCallback } from './callbacks.ts'
import { type HighWaterMarks, marksInMemory } from './high-water-marks.ts'
import { AwaitedCallbacks, type MailboxLimits } from './mailbox.ts'
import { type Notification, type SequenceGap, withoutHandledItems } from './notifications.ts'
import { type HandleOnce, makeHandleOnce } from './once.ts'
import { outstandingRequestsAt } from './outstanding-requests.ts'
import { type AnswerHandlers, answerQuestion, type Question, questionAt, readQuestion } from './questions.ts'
import { readCallback, requireCallback } from './read-callback.ts'
import { envelopeBounds, messageBounds, readRequest } from './read-request.ts'
import { type ReceivedMessages, rememberInMemory } from './received-messages.ts'

/** A registry that may send callbacks, or a system that may ask questions. */
export interface Peer {
  readonly sender_id: string
  /** The registry's public keys, or their address. Without keys, no signature of the registry is valid. */
  readonly keys?: JwkSet | string
  /** Whether the peer's messages must be signed; `required` by default. */
  readonly signature?: SignaturePolicy
  /** How the registry signs; the profile of the specification by default. */
  readonly profile?: SignatureProfile
  /** The values that the parameter `namespace` of a signature may have; by default SIGNATURE_NAMESPACES, such as `registry`. */
  readonly namespaces?: readonly string[]
  /** True when unencrypted messages of this peer are refused. False by default. */
  readonly encrypted?: boolean
  /**
   * True when the registry repeats the header of the request: its callbacks name us as `sender_id` and the registry as
   * `receiver_id`. Then only the signature shows whether the registry or we wrote a message. False by default.
   */
  readonly repeats_addresses?: boolean
  /**
   * The registry's kind, such as `civil`. Without it, a client that has a `kind` and this receiver sets the kind when it gets a
   * callback of the registry. Until then, the kind of each notification is guessed from names in it, such as the record type.
   */
  readonly kind?: KindName
}

export interface ReceiverOptions {
  /** The systems whose callbacks and questions are accepted. */
  readonly peers: readonly Peer[]
  /** Our own sender_id, or several. A message for another receiver is refused. */
  readonly receiver_id: string | readonly string[]
  readonly handlers?: Handlers
  /** Handlers of the questions that this system answers as an employment support system. They need `signing`. */
  readonly answers?: AnswerHandlers
  /** How our answers are signed. */
  readonly signing?: Signing
  /** Our private JWKs, each with its `kid`, for encrypted callbacks and questions. */
  readonly decryption_keys?: readonly Jwk[]
  /** Remembers which messages were handled; `rememberInMemory()` by default. */
  readonly memory?: ReceivedMessages
  /** Stores versions of records, so that older items of notifications are left out; `marksInMemory()` by default. */
  readonly marks?: HighWaterMarks
  /** Called when notifications are missing: a registry numbers the notifications of a mailbox without gaps. */
  readonly on_gap?: (gap: SequenceGap) => void
  /** Returns true when the HTTP request is allowed, for example because of its bearer token. */
  readonly authorize?: (request: Request) => boolean | Promise<boolean>
  /** Gets errors of handlers, stores and key sets, which peers do not see. A RequestFault goes to the peer instead. */
  readonly on_error?: (error: unknown) => void
  /** The largest body in bytes; 10 MiB by default. */
  readonly max_body_bytes?: number
  /** The largest number of values (objects, arrays, texts, numbers, words) in a body; 1 000 000 by default. */
  readonly max_body_values?: number
  /**
   * How many callbacks this receiver keeps until `awaitCallback` asks for them, and how long: 1 000, for 10 minutes, by default.
   */
  readonly held?: Partial<MailboxLimits>
  /** Fetches published key sets; by default the platform's `fetch`. */
  readonly fetch?: Fetch
}

const MAX_BODY_BYTES = 10 * 1_024 * 1_024
const MAX_BODY_VALUES = 1_000_000
const DEFAULT_MAILBOX_LIMITS: MailboxLimits = { callbacks: 1_000, age: 600_000 }
const KEY_SET_FETCH_LIMITS = { timeout: 5_000, maxAnswerBytes: 262_144 }

const incomingHeaderValidator: Validator = validator(IncomingHeader)
const CALLBACK_MESSAGES = CALLBACKS.map(({ message }) => message)
const RECEIVER_ID_RULE =
  'header.receiver_id: is required, unless the correlation_id is that of a request to a registry whose signature is required and verifies'
const SIGNING_NEEDED_RULE = 'answers need signing: the private key that signs them'

/** Receives the callbacks of registries, and answers questions. Pass each HTTP request to `handle`. */
export class Receiver {
  readonly #options: ReceiverOptions
  /** How each peer is trusted, by its sender_id. */
  readonly #trust: ReadonlyMap<string, PeerTrustSettings>
  readonly #receivers: readonly string[]
  readonly #keys: DecryptionKeys
  readonly #once: HandleOnce
  readonly #mailbox: AwaitedCallbacks
  readonly #marks: HighWaterMarks
  readonly #maxBytes: number
  readonly #maxValues: number
  /** The signer of our answers, by our sender_id. */
  readonly #signers = new Map<string, Promise<Signer>>()
  /** The kind of each registry whose kind is known, by the registry's sender_id. */
  readonly #kinds = new Map<string, KindName>()

  /** Makes a receiver. @throws TypeError a key does not fit its use, a kind is unknown, or `answers` lack `signing` */
  constructor(options: ReceiverOptions) {
    const { fetch: given = (url, init) => fetch(url, init), receiver_id } = options
    if (Object.keys(options.answers ?? {}).length > 0 && options.signing === undefined) {
      throw new TypeError(SIGNING_NEEDED_RULE)
    }
    this.#options = options
    const http = { ...KEY_SET_FETCH_LIMITS, fetch: given }
    this.#trust = new Map(options.peers.map((peer) => [peer.sender_id, makePeerTrust(peer, http)]))
    for (const { sender_id, kind } of options.peers) if (kind !== undefined) this.noteKind(sender_id, kind)
    this.#receivers = typeof receiver_id === 'string' ? [receiver_id] : receiver_id
    this.#keys = decryptionKeys(options.decryption_keys ?? [])
    this.#once = makeHandleOnce(options.memory ?? rememberInMemory())
    this.#mailbox = new AwaitedCallbacks({ ...DEFAULT_MAILBOX_LIMITS, ...options.held })
    this.#marks = options.marks ?? marksInMemory()
    this.#maxBytes = options.max_body_bytes ?? MAX_BODY_BYTES
    this.#maxValues = options.max_body_values ?? MAX_BODY_VALUES
  }

  /**
   * Answers a callback with an ack, and a question with its answer. Never rejects: after an internal error, `on_error`
   * gets it, and the answer asks the peer to send the message again.
   */
  readonly handle = async (request: Request): Promise<Response> => {
    try {
      return await this.#receive(request)
    } catch (error) {
      if (error instanceof RequestFault) {
        this.#noteRefused(error, request)
        return refusalResponse(error)
      }
      callWithoutErrors(() => this.#options.on_error?.(error))
      return refusalResponse(new RequestFault('err.service.unavailable', 'the message was not handled; send it again later', 500))
    }
  }

  /**
   * The callback with this correlation_id, which may have come already.
   * @throws TransportError `no_callback` it does not come within `timeout`
   * @throws the reason of `signal` when it aborts
   */
  awaitCallback(correlation_id: string, options: AwaitOptions = {}): Promise<ReplyCallback> {
    return this.#mailbox.take(correlation_id, options)
  }

  /**
   * Sets the kind of a registry, unless one is set already: names in its notifications are read as names of that kind.
   * A client that has a `kind` calls `noteKind` when it gets a callback of the registry.
   * @throws TypeError the kind is unknown
   */
  noteKind(sender_id: string, kind: string): void {
    const name = checkKind(kind)
    if (!this.#kinds.has(sender_id)) this.#kinds.set(sender_id, name)
  }

  /** Notes a refused callback, for the error of a caller who waits for one. */
  #noteRefused(fault: RequestFault, { url }: Request): void {
    if (questionAt(new URL(url).pathname, this.#options.answers ?? {}) !== null) return
    this.#mailbox.refused(fault, fault instanceof UnknownSender ? fault.sender_id : null)
  }

  /** Reads, verifies and handles the message of a request. */
  async #receive(request: Request): Promise<Response> {
    const { authorize, answers = {} } = this.#options
    if (authorize !== undefined && !(await authorize(request))) {
      throw new RequestFault('err.request.unauthorized', 'the access token is missing or not valid')
    }

    // Who sent the message, and is it signed?
    const { pathname } = new URL(request.url)
    const asked = questionAt(pathname, answers)
    const kind = asked === null ? 'callback' : 'question'
    const text = await readRequest(request, this.#maxBytes, ACCEPTED_TYPES[kind === 'callback' ? kind : 'request'])
    const bounds = envelopeBounds(this.#maxValues, asked === null ? CALLBACK_MESSAGES : [asked.request])
    const { frame, sender_id, trust } = await this.#from(readEnvelope(text, kind, incomingHeaderValidator, bounds))
    const signed = await verifySignatureOf(frame, trust, kind)

    // Is the message for us, and what does it say?
    this.#checkAddress(frame)
    const opened = (message: Message) =>
      openEnvelope(frame, trust, this.#keys, this.#maxBytes, messageBounds(this.#maxValues, message))
    if (asked !== null) {
      const question = readQuestion(asked, frame, await opened(asked.request), signed)
      return this.#answer(question, answers, trust)
    }
    const row = requireCallback(pathname, frame.header.action)
    const callback = readCallback(row, frame, await opened(row.message), signed)

    // Handle the message once, then acknowledge it.
    const message_id = String(frame.header.message_id)
    await this.#once({ sender_id, message_id }, () => this.#dispatch(callback, pathname))
    return ackResponse(ackCorrelationId(callback))
  }

  async #answer(question: Question, answers: AnswerHandlers, trust: PeerTrustSettings): Promise<Response> {
    const { signing } = this.#options
    const sender_id = question.header.receiver_id ?? this.#receivers[0] ?? ''
    if (signing === undefined) throw new TypeError(SIGNING_NEEDED_RULE)
    const signer = this.#signers.get(sender_id) ?? signerOf(signing, sender_id)
    this.#signers.set(sender_id, signer)
    return answerQuestion({ answers, sender_id, signer: await signer, trust }, question)
  }

  /**
   * Finds the peer that sent the message. If the peer repeats sender_id and receiver_id of our request, the returned header has
   * them exchanged.
   * @throws RequestFault the sender is no peer
   */
  async #from(
    frame: ParsedEnvelope,
  ): Promise<{ readonly frame: ParsedEnvelope; readonly sender_id: string; readonly trust: PeerTrustSettings }> {
    const { header } = frame
    const sender_id = String(header.sender_id)
    const trust = this.#trust.get(sender_id)
    if (trust !== undefined) return { frame, sender_id, trust }
    if (header.receiver_id === undefined && this.#receivers.includes(sender_id)) {
      const found = await outstandingRequestsAt(this).senderOf(frame, this.#trust)
      if (found !== null) return found
      throw new RequestFault('err.sender_id.invalid', RECEIVER_ID_RULE)
    }
    const registry = String(header.receiver_id)
    const repeating = this.#trust.get(registry)
    if (repeating?.repeats_addresses && hasRequestSenderAndReceiver(header, this.#receivers, registry)) {
      return { frame: { ...frame, header: swapSenderAndReceiver(header) }, sender_id: registry, trust: repeating }
    }
    throw new UnknownSender(sender_id)
  }

  #checkAddress({ header }: ParsedEnvelope): void {
    const { receiver_id, version } = header
    if (receiver_id !== undefined && !this.#receivers.includes(String(receiver_id))) {
      throw new RequestFault('err.receiver_id.invalid', 'header.receiver_id: is not this system')
    }
    if (version !== undefined && !isSpokenVersion(String(version))) {
      throw new RequestFault('err.version.not_supported', 'header.version: must be 1.0.0')
    }
  }

  async #dispatch(callback: Received | Rejected, address: string): Promise<void> {
    const { handlers = {} } = this.#options
    const isHandled = isNotification(callback)
      ? await this.#notified(handlers, callback, address)
      : await callHandler(handlers, callback)
    if ('message' in callback && callback.name !== 'notify') this.#mailbox.put(callback as ReplyCallback)
    else if (!isHandled) {
      // No handler takes the callback, so it is refused instead of acknowledged.
      throw new RequestFault('err.request.not_found', `nothing here takes ${callback.name}`)
    }
  }

  /** Handles a notification. False when there is no handler. */
  async #notified(handlers: Handlers, received: Notification, address: string): Promise<boolean> {
    const kind = this.#kinds.get(received.header.sender_id)
    const notification = kind === undefined ? received : { ...received, kind }
    const { current, handled } = await withoutHandledItems(notification, address, this.#marks, (gap) =>
      callWithoutErrors(() => this.#options.on_gap?.(gap)),
    )
    const isOld = current.message.notify_event.length === 0 && notification.message.notify_event.length > 0
    const isHandled = isOld ? handlers.notify !== undefined : await callHandler(handlers, current)
    if (isHandled) await handled()
    return isHandled
  }
}

const isNotification = (callback: Received | Rejected): callback is Notification =>
  'message' in callback && callback.name === 'notify'

/** Calls a hook whose error must not reach the peer. */
function callWithoutErrors(hook: () => void): void {
  try {
    hook()
  } catch {
    // Nobody is left to whom an error of the hook could be reported.
  }
}

/** Calls the handler of a callback. False when there is none. */
async function callHandler(handlers: Handlers, callback: Received | Rejected): Promise<boolean> {
  // The name of a callback decides the type of its message.
  const handler = ('message' in callback ? handlers[callback.name] : handlers.rejected) as
    | ((callback: Received | Rejected) => unknown)
    | undefined
  await handler?.(callback)
  return handler !== undefined
}

function ackCorrelationId(callback: Received | Rejected): string {
  const known = 'message' in callback && 'correlation_id' in callback.message
  return known ? callback.message.correlation_id : crypto.randomUUID()
}
