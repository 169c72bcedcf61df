/** Tombstones: signed statements of what was erased or pruned. What is missing without one is a fault that `verify` finds. */
import { canonicalJson } from '@rollcall/protocol'
import type { AccountSigner } from './keys.ts'
import type { NewTombstone } from './store/tombstones.ts'

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

/**
 * The database was restored: what was accounted after the snapshot, until now, is not in it. Checkpoints of that time, and of
 * no other, may be missing.
 */
export interface RestoreTombstone {
  readonly kind: 'restore'
  readonly at: string
  readonly reason: string
  /** Of the file; null: the database was restored by other means. */
  readonly backup: string | null
  /** The time whose state the database had. */
  readonly snapshot_at: string
  /** What a checkpoint of the lost time is later than: the snapshot less the longest time of a commit. */
  readonly from: string
  /** How many acts of the journal were applied; null: it was renounced. */
  readonly journal: number | null
  /** Of these, how many could not be done, which was accepted; absent: none. */
  readonly undone?: number
  /** The chains that had not ended, with the last entry that is there, and the last that a checkpoint signs. */
  readonly open: readonly OpenChain[]
}

export interface OpenChain {
  readonly chain: string
  readonly sequence: number
  readonly signed: number
}

export type TombstoneContent = ErasureTombstone | PruneTombstone | RestoreTombstone

/** The chains that a tombstone names, sorted. */
export function chainsOf(content: TombstoneContent): readonly string[] {
  return [...new Set(namedBy(content))].toSorted()
}

function namedBy(content: TombstoneContent): readonly string[] {
  if (content.kind === 'erasure') return Object.keys(content.erased)
  return (content.kind === 'prune' ? content.pruned : content.open).map(({ chain }) => chain)
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
