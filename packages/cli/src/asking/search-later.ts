/** An asynchronous search: the ack, and where this process listens, all callbacks that answer it. */
import {
  type Accepted,
  callbacksAt,
  HeaderRejected,
  type Peer,
  Receiver,
  RegistryClient,
  type ReplyCallback,
  type SearchInput,
} from '@rollcall/client'
import { CommandError } from '../failure.ts'
import { isLoopbackAddress } from './demo.ts'
import { inWords, made } from './failures.ts'
import { type ListenAt, listenForCallbacks } from './listening.ts'
import type { Target } from './target.ts'

/** Sends the request; the result goes to `sender_uri`, or where the registry has it on file. */
export function sendSearch(
  { client }: Target,
  questions: readonly SearchInput[],
  { sender_uri, signal }: { readonly sender_uri: string | undefined; readonly signal: AbortSignal },
): Promise<Accepted> {
  const options = { ...client, ...(sender_uri !== undefined && { sender_uri }) }
  const asking = made(() => new RegistryClient(options))
  return inWords(asking.searchAsync(questions, { signal }), signal)
}

export interface Wait {
  readonly at: ListenAt
  /** The full address that the registry is given; by default that of the listener. */
  readonly sender_uri: string | undefined
  /** Milliseconds for each callback. */
  readonly timeout: number
  readonly signal: AbortSignal
  readonly accepted: (accepted: Accepted) => void
  readonly callback: (callback: ReplyCallback) => void
}

/**
 * Sends the request and reports each callback, until every item has its last page.
 * @throws CommandError
 */
export async function searchAndWait(
  target: Target,
  questions: readonly SearchInput[],
  wait: Wait,
): Promise<void> {
  const peer = peerOf(target)
  if (wait.sender_uri === undefined && !isLoopbackAddress(target.base_url)) {
    throw new CommandError(
      '--listen needs --sender-uri, the address at which the registry reaches this machine',
    )
  }
  // A rejection without message names no request; this process has one only.
  const ended = new AbortController()
  const receiver = made(
    () =>
      new Receiver({
        peers: [peer],
        receiver_id: target.client.sender_id,
        decryption_keys: target.decryption_keys,
        handlers: { rejected: ({ header }) => ended.abort(new HeaderRejected(header)) },
      }),
  )
  const server = await listenForCallbacks(wait.at, receiver.handle)
  try {
    const sender_uri = wait.sender_uri ?? callbacksAt(server.url)
    const asking = made(() => new RegistryClient({ ...target.client, sender_uri, receiver }))
    const { timeout, accepted } = wait
    const signal = AbortSignal.any([wait.signal, ended.signal])
    const callbacks = asking.searchByCallback(questions, { timeout, accepted, signal })
    for (;;) {
      const { done, value } = await inWords(callbacks.next(), wait.signal)
      if (done) break
      wait.callback(value)
    }
  } finally {
    await server.close()
  }
}

function peerOf({ peer }: Target): Peer {
  if (peer !== null) return peer
  throw new CommandError('--listen needs --receiver-id, the sender_id of the registry that calls back')
}
