/**
 * Remembers each request while it is sent. Also remembers the last MOST_REMEMBERED_REQUESTS acknowledged requests, even when
 * their callbacks have come. Some registries repeat the header of our request in the callback. When the request had no
 * receiver_id, such a callback does not name the registry, and this file finds the registry by the request.
 */
import { RequestFault } from '@rollcall/protocol'
import { type ParsedEnvelope, type PeerTrustSettings, swapSenderAndReceiver, verifySignatureOf } from '../trust/open.ts'

/** The most correlation_ids of acknowledged requests that are remembered. */
const MOST_REMEMBERED_REQUESTS = 10_000

/** The requests that a receiver's clients have sent, for finding the registry of a callback. */
export class OutstandingRequests {
  /** For each correlation_id of an acknowledged request, how messages of its registry are verified. */
  readonly #accepted = new Map<string, PeerTrustSettings>()
  /** Requests that have no ack yet. A callback may come before the ack; the callback has the transaction_id. */
  readonly #asking = new Set<{ readonly transaction_id: string; readonly trust: PeerTrustSettings }>()

  /** Remembers a request while it is being sent, and its correlation_id afterwards. */
  async during<Ack extends { readonly correlation_id: string }>(
    trust: PeerTrustSettings,
    transaction_id: string,
    send: () => Promise<Ack>,
  ): Promise<Ack> {
    const asking = { transaction_id, trust }
    this.#asking.add(asking)
    try {
      const ack = await send()
      this.#accepted.set(ack.correlation_id, trust)
      const [oldest] = this.#accepted.keys()
      if (oldest !== undefined && this.#accepted.size > MOST_REMEMBERED_REQUESTS) this.#accepted.delete(oldest)
      return ack
    } finally {
      this.#asking.delete(asking)
    }
  }

  /**
   * Finds the sender of a callback whose sender_id and receiver_id are those of our request, not exchanged. A key of the registry
   * that we asked must verify the signature, and so must a key of exactly one peer with `repeats_addresses`: this peer is the
   * sender. Null otherwise. A peer whose signature is not required does not count. `frame` is the envelope; the result has it
   * with sender_id and receiver_id exchanged.
   */
  async senderOf(
    frame: ParsedEnvelope,
    peers: ReadonlyMap<string, PeerTrustSettings>,
  ): Promise<{ readonly frame: ParsedEnvelope; readonly sender_id: string; readonly trust: PeerTrustSettings } | null> {
    const asked = this.#trustsFor(frame.message ?? {})
    if (!(await isTrueForAny(asked, (trust) => isSignatureProven(frame, trust)))) return null
    const proven: (readonly [string, PeerTrustSettings])[] = []
    for (const [name, trust] of peers) {
      if (trust.repeats_addresses && (await isSignatureProven(frame, trust))) proven.push([name, trust])
    }
    const [sender, second] = proven
    if (sender === undefined || second !== undefined) return null
    const [sender_id, trust] = sender
    return { frame: { ...frame, header: { ...swapSenderAndReceiver(frame.header), sender_id } }, sender_id, trust }
  }

  #trustsFor({ correlation_id, transaction_id }: NonNullable<ParsedEnvelope['message']>): readonly PeerTrustSettings[] {
    // The message is not checked yet, and String() of an object may throw.
    const accepted = typeof correlation_id === 'object' ? undefined : this.#accepted.get(String(correlation_id))
    if (accepted !== undefined) return [accepted]
    return [...this.#asking].filter((one) => one.transaction_id === transaction_id).map(({ trust }) => trust)
  }
}

async function isTrueForAny<Item>(items: readonly Item[], is: (item: Item) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (await is(item)) return true
  return false
}

/** True when the peer's callbacks must be signed, and the signature of this callback is valid. */
async function isSignatureProven(frame: ParsedEnvelope, trust: PeerTrustSettings): Promise<boolean> {
  if (trust.signature !== 'required') return false
  try {
    return await verifySignatureOf(frame, trust, 'callback')
  } catch (error) {
    if (error instanceof RequestFault) return false
    throw error
  }
}

const REQUESTS_BY_RECEIVER = new WeakMap<object, OutstandingRequests>()

/** Returns the OutstandingRequests of this receiver; the first call makes it. */
export function outstandingRequestsAt(receiver: object): OutstandingRequests {
  const known = REQUESTS_BY_RECEIVER.get(receiver) ?? new OutstandingRequests()
  REQUESTS_BY_RECEIVER.set(receiver, known)
  return known
}
