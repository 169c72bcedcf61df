/** Whose callbacks are taken, and how they are believed. */
import type { SignaturePolicy, SignatureProfile } from '@rollcall/protocol'
import type { HttpSettings } from '../http/post.ts'
import { type Trust, trustIn } from '../trust/open.ts'
import type { JwkSet } from '../trust/peer-keys.ts'

/** A registry that may send callbacks. */
export interface Peer {
  readonly sender_id: string
  /** Its public keys, or the address where it publishes them. Without, nothing that it signs verifies. */
  readonly keys?: JwkSet | string
  /** `required` by default. */
  readonly signature?: SignaturePolicy
  /** By default what the specification describes. */
  readonly profile?: SignatureProfile
  /** Values of `namespace` that are taken in signatures. */
  readonly namespaces?: readonly string[]
  /** Messages in clear are refused; false by default. */
  readonly encrypted?: boolean
  /**
   * It repeats the header of the request: its callbacks name us as `sender_id` and the peer as `receiver_id`. False by
   * default: who sends is then read from a header that says that we do, and the signature alone tells them apart.
   */
  readonly repeats_addresses?: boolean
}

/** Trust by sender_id; undefined for a sender that is none of ours. */
export function trustOf(
  peers: readonly Peer[],
  http: HttpSettings,
): (sender_id: string) => Trust | undefined {
  const trusts = new Map(peers.map((peer) => [peer.sender_id, trustIn(peer, http)]))
  return (sender_id) => trusts.get(sender_id)
}
