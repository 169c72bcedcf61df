/** Tombstones are signed statements of what was erased or pruned. `verify` reports whatever is missing without one. */
import { canonicalJson } from '@rollcall/protocol'
import type { AuditSigner } from './keys.ts'
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

/** The tombstone of pruned entries: in each chain up to one entry, with the rows of their persons. Checkpoints stay. */
export interface PruneTombstone {
  readonly kind: 'prune'
  readonly at: string
  readonly reason: string
  readonly pruned: readonly PrunedChain[]
}

export interface PrunedChain {
  readonly chain: string
  /** The last pruned entry. */
  readonly sequence: number
  /** Hash of that entry, in hexadecimal: the next entry follows it. */
  readonly hash: string
}

/**
 * The database was restored: the entries since the snapshot are lost. Checkpoints of that time, and of no other, may be
 * missing.
 */
export interface RestoreTombstone {
  readonly kind: 'restore'
  readonly at: string
  readonly reason: string
  /** The name of the backup file; null when the database was restored by other means. */
  readonly backup: string | null
  /** The time whose state the database had. */
  readonly snapshot_at: string
  /** Checkpoints after this time may be lost: the snapshot less the longest time of a commit. */
  readonly from: string
  /** Number of applied acts of the journal; null when the operator renounced the journal. */
  readonly journal: number | null
  /** Number of these acts that could not be done, which the operator accepted; absent for none. */
  readonly undone?: number
  /** The chains that had not ended, each with its last entry and the last one that a checkpoint signs. */
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

/** Signs a tombstone. Its row is inserted in the transaction that deletes. */
export function signTombstone(signer: AuditSigner, tombstone: TombstoneContent): NewTombstone {
  const content = canonicalJson(tombstone)
  return {
    at: new Date(tombstone.at),
    content,
    kid: signer.kid,
    signature: signer.sign(content),
    chains: [...chainsOf(tombstone)],
  }
}
