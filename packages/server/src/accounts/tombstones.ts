/** Tombstones: signed statements of what was erased or pruned. What is missing without one is a fault that `verify` finds. */
import { canonicalJson } from '@rollcall/protocol'
import type { NewTombstone } from '../store/accounts/tombstones.ts'
import type { AccountSigner } from './keys.ts'

/** Rows of `account_person` were erased: their sequences and positions, by chain. */
export interface ErasureTombstone {
  readonly kind: 'erasure'
  /** RFC 3339 in UTC, with milliseconds. */
  readonly at: string
  /** Why, without personal data. */
  readonly reason: string
  readonly erased: Readonly<Record<string, readonly (readonly [sequence: number, position: number])[]>>
}

/** The entries of chains up to these were pruned, with the rows of their persons. Checkpoints stay. */
export interface PruneTombstone {
  readonly kind: 'prune'
  readonly at: string
  readonly reason: string
  readonly pruned: readonly PrunedChain[]
}

export interface PrunedChain {
  readonly chain: string
  /** The last one that was pruned. */
  readonly sequence: number
  /** Its hash, in hexadecimal: the next entry follows it. */
  readonly hash: string
}

export type TombstoneContent = ErasureTombstone | PruneTombstone

/** The chains that a tombstone names, sorted. */
export function chainsOf(content: TombstoneContent): readonly string[] {
  const chains =
    content.kind === 'erasure' ? Object.keys(content.erased) : content.pruned.map(({ chain }) => chain)
  return [...new Set(chains)].toSorted()
}

/** The row of a tombstone; it is inserted in the transaction that deletes. */
export function signTombstone(signer: AccountSigner, tombstone: TombstoneContent): NewTombstone {
  const content = canonicalJson(tombstone)
  return {
    at: new Date(tombstone.at),
    content,
    kid: signer.kid,
    signature: signer.sign(content),
    chains: [...chainsOf(tombstone)],
  }
}
