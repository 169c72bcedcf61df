/** Tombstones are signed statements of what was erased, pruned or lost. `verify` reports what else is missing. */
import { canonicalJson } from '@rollcall/protocol'
import type { AuditSigner } from './keys.ts'
import type { NewTombstone } from './store/tombstones.ts'

/** The tombstone of erased persons: by chain, the entry of each person and the person's position in the entry. */
export interface ErasureTombstone {
  readonly kind: 'erasure'
  /** The time of the erasure: RFC 3339 in UTC, with milliseconds. */
  readonly at: string
  /** The reason for the erasure, without personal data. */
  readonly reason: string
  readonly erased: Readonly<Record<string, readonly (readonly [sequence: number, position: number])[]>>
}

/** The tombstone of pruned entries and their persons: of each chain, all entries up to a last one. Checkpoints stay. */
export interface PruneTombstone {
  readonly kind: 'prune'
  readonly at: string
  readonly reason: string
  readonly pruned: readonly PrunedChain[]
}

export interface PrunedChain {
  readonly chain: string
  /** The sequence number of the last pruned entry. */
  readonly sequence: number
  /** The hash of the last pruned entry, in hexadecimal: the next entry's hash covers it. */
  readonly hash: string
}

/** The tombstone of a restore: entries since the snapshot are lost. Only checkpoints after `from`, up to `at`, may be missing. */
export interface RestoreTombstone {
  readonly kind: 'restore'
  readonly at: string
  readonly reason: string
  /** The id of the backup; null when the database was restored by other means. */
  readonly backup: string | null
  /** The time at which the database was in the restored state. */
  readonly snapshot_at: string
  /**
   * Checkpoints of the audit log after this time may be lost. The time is `snapshot_at` less the longest time between an audit
   * entry and its commit.
   */
  readonly from: string
  /** The number of acts that the journal had for the restore; null when the operator restored without the journal. */
  readonly journal: number | null
  /** The number of these acts that could not be applied, which the operator accepted; absent for none. */
  readonly undone?: number
  /** The chains that had not ended, each with its last entry and the last entry that a checkpoint signs. */
  readonly open: readonly UnendedChain[]
}

export interface UnendedChain {
  readonly chain: string
  readonly sequence: number
  readonly signed: number
}

export type TombstoneContent = ErasureTombstone | PruneTombstone | RestoreTombstone

/** Lists the chains that a tombstone names, sorted. */
export function chainsNamedIn(content: TombstoneContent): readonly string[] {
  return [...new Set(unsortedChainsIn(content))].toSorted()
}

function unsortedChainsIn(content: TombstoneContent): readonly string[] {
  if (content.kind === 'erasure') return Object.keys(content.erased)
  return (content.kind === 'prune' ? content.pruned : content.open).map(({ chain }) => chain)
}

/** Signs a tombstone. The caller inserts it in the transaction that makes the change. */
export function signTombstone(signer: AuditSigner, tombstone: TombstoneContent): NewTombstone {
  const content = canonicalJson(tombstone)
  return {
    at: new Date(tombstone.at),
    content,
    kid: signer.kid,
    signature: signer.sign(content),
    chains: [...chainsNamedIn(tombstone)],
  }
}
