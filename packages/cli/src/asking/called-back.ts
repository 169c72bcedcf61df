/** Requests whose callbacks come to a listener of this process. */
import {
  type ClientOptions,
  callbacksAt,
  type Handlers,
  HeaderRejected,
  type Peer,
  Receiver,
  RegistryClient,
} from '@rollcall/client'
import { CommandError } from '../failure.ts'
import { isLoopbackAddress } from './demo.ts'
import { makeClient } from './failures.ts'
import { type ListenAddress, listenForCallbacks } from './listening.ts'
import type { RegistryTarget } from './target.ts'

export interface CallbackSetup {
  readonly at: ListenAddress
  /**
   * The callback address in our requests, or a function that returns the address for each kind of callback, such as on-search;
   * undefined: the address of the listener, which only a registry on this machine can reach.
   */
  readonly sender_uri: ClientOptions['sender_uri'] | undefined
  readonly handlers?: Handlers
  /** Milliseconds to wait for the callback of a subscribe or an unsubscribe. */
  readonly callback_timeout?: number
  /** Called with the message_id of each callback that has one, before the verification; also for a repeated callback. */
  readonly arrived?: (message_id: string) => void
}

/**
 * Listens for callbacks while `work` goes on. The signal `rejected` is aborted when a callback rejects a whole request. The
 * callback does not name the request. It means the request under way, because this process sends one request at a time.
 * @throws CommandError --receiver-id or --sender-uri is missing, a key does not fit, or the port cannot be listened on
 */
export async function withCallbacks<Result>(
  target: RegistryTarget,
  { at, sender_uri, handlers = {}, callback_timeout, arrived }: CallbackSetup,
  work: (asking: RegistryClient, rejected: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const peer = requirePeer(target)
  if (sender_uri === undefined && !isLoopbackAddress(target.base_url)) {
    throw new CommandError('--listen needs --sender-uri, the address at which the registry reaches this machine')
  }
  const ended = new AbortController()
  const receiver = makeClient(
    () =>
      new Receiver({
        peers: [peer],
        receiver_id: target.client.sender_id,
        decryption_keys: target.decryption_keys,
        handlers: { ...handlers, rejected: ({ header }) => ended.abort(new HeaderRejected(header)) },
      }),
  )
  const server = await listenForCallbacks(at, async (request) => {
    if (arrived !== undefined) await reportMessageId(request.clone(), arrived)
    return receiver.handle(request)
  })
  try {
    const options = { ...target.client, receiver, sender_uri: sender_uri ?? callbacksAt(server.url) }
    const asking = makeClient(
      () => new RegistryClient({ ...options, ...(callback_timeout !== undefined && { callback_timeout }) }),
    )
    return await work(asking, ended.signal)
  } finally {
    await server.close()
  }
}

async function reportMessageId(request: Request, arrived: (message_id: string) => void): Promise<void> {
  try {
    const message_id: unknown = JSON.parse(await request.text())?.header?.message_id
    if (typeof message_id === 'string') arrived(message_id)
  } catch {
    // The body is no JSON. `receiver.handle` refuses the request afterwards.
  }
}

function requirePeer({ peer }: RegistryTarget): Peer {
  if (peer !== null) return peer
  throw new CommandError('--listen needs --receiver-id, the sender_id of the registry that calls back')
}
