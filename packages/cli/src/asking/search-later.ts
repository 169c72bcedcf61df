/** An asynchronous search: the ack, and where this process listens, all callbacks that answer it. */
import {
  type Accepted,
  callbacksAt,
  HeaderRejected,
  type Peer,
  Receiver,
  RegistryClient,
  type Rejected,
  type ReplyCallback,
  type SearchInput,
} from '@rollcall/client'
import type { CallbackHeader } from '@rollcall/protocol'
import { CommandError } from '../failure.ts'
import { type ListenAt, listenForCallbacks } from './callback-server.ts'
import { isLoopbackAddress } from './demo.ts'
import { asCommandError, inWords, made } from './failures.ts'
import { goesOn, summaryOf } from './summary.ts'
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
  /** The full address that the registry is told; by default that of the listener. */
  readonly sender_uri: string | undefined
  /** Milliseconds for each callback. */
  readonly timeout: number
  readonly signal: AbortSignal
  readonly accepted: (accepted: Accepted) => void
  readonly callback: (callback: ReplyCallback) => void
}

/**
 * Sends the request and tells each callback, until every item has its last page.
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
      '--listen needs --sender-uri: the address at which the registry reaches this machine',
    )
  }
  const rejected = Promise.withResolvers<never>()
  // It is awaited only while a callback is.
  rejected.promise.catch(() => undefined)
  const receiver = made(
    () =>
      new Receiver({
        peers: [peer],
        receiver_id: target.client.sender_id,
        decryption_keys: target.decryption_keys,
        handlers: {
          rejected: (callback) => rejected.reject(rejection(callback)),
        },
      }),
  )
  const server = await listenForCallbacks(wait.at, receiver.handle)
  const ended = new AbortController()
  try {
    const sender_uri = wait.sender_uri ?? callbacksAt(server.url)
    const asking = made(() => new RegistryClient({ ...target.client, sender_uri, receiver }))
    const { signal, timeout } = wait
    const accepted = await inWords(asking.searchAsync(questions, { signal }), signal)
    wait.accepted(accepted)
    if (accepted.ack_status === 'NACK') {
      throw new CommandError('the registry took the request and will send no callback (NACK)')
    }
    const either = AbortSignal.any([signal, ended.signal])
    const open = new Set(questions.map(referenceOf))
    while (open.size > 0) {
      const next = asking.awaitCallback(accepted.correlation_id, { timeout, signal: either })
      const callback = await inWords(Promise.race([next, rejected.promise]), signal)
      const { status, items } = summaryOf(callback)
      if (status === 'rjct' && items.length === 0) throw asCommandError(rejection(callback))
      wait.callback(callback)
      for (const item of items) {
        if (item.reference_id !== null && !goesOn(item)) open.delete(item.reference_id)
      }
    }
  } finally {
    // Nobody waits any more.
    ended.abort()
    await server.close()
  }
}

// Of a rejection only the code and the reason are read, which every callback header may have.
const rejection = ({ header }: Pick<Rejected, 'header'>): HeaderRejected =>
  new HeaderRejected(header as CallbackHeader)

/** As the client numbers them. */
const referenceOf = (input: SearchInput, index: number): string =>
  ('search_criteria' in input ? input.reference_id : undefined) ?? String(index + 1)

function peerOf({ peer }: Target): Peer {
  if (peer !== null) return peer
  throw new CommandError('--listen needs --receiver-id: the sender_id of the registry that calls back')
}
