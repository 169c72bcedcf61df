/** The kinds of faults in the audit log, each with its explanation. */
export const FAULT_TEXTS = {
  entry_changed: 'an entry does not match its hash: it was changed, or the entry before it was',
  entry_missing: 'entries are missing in the middle of a chain',
  entry_truncated: 'entries are missing at the end of a chain: a checkpoint signs them',
  entry_after_end: 'an entry was added after the signed end of its chain',
  entry_inserted: 'an entry was added under the number of another one',
  entry_pruned: 'an entry is there that a tombstone says was pruned',
  entry_columns: 'a column of an entry says something else than the entry',
  shape_missing: 'the shape of an entry is missing: it was removed, or the entry names another one',
  shape_changed: 'a shape does not match its digest: it was changed, and so are all entries that have it',
  person_changed: 'the row of a person does not match its commitment: pseudonym, salt or role was changed',
  person_missing: 'the row of a person was deleted without a tombstone',
  person_inserted: 'the row of a person belongs to no commitment of an entry',
  person_erased: 'the row of a person is there that a tombstone says was erased',
  checkpoint_signature: 'the signature of a checkpoint is wrong, or its key is unknown: the checkpoint was changed or forged',
  checkpoint_columns: 'a column of a checkpoint says something else than its content',
  checkpoint_hash: 'a checkpoint signs another hash: the entries before it were rewritten',
  checkpoint_link: 'a checkpoint does not follow the one before it: one was removed, changed or added',
  checkpoint_missing: 'a checkpoint is missing that another chain names: it was removed, or its whole chain was',
  tombstone_signature: 'the signature of a tombstone is wrong, or its key is unknown: the tombstone was changed or forged',
  tombstone_columns: 'a column of a tombstone says something else than its content',
  key_changed:
    'a key was changed: its public half does not belong to its kid or to its private half, a secret does not decrypt, it was retired, or checkpoints say that it was made at another time',
  key_missing:
    'a secret of the audit log is missing that checkpoints name: persons, or confidential details, of that time are not found any more',
  review_changed:
    'the review of an emergency does not match its seal: the entry that it is about, who reviewed it, when, or what was found was changed, or it was forged',
  witness_missing:
    'the witness has a checkpoint that the database does not have: the database was rolled back, or it was removed',
  witness_different: 'the witness has another checkpoint under the same digest',
} as const
export type FaultKind = keyof typeof FAULT_TEXTS

export interface AuditLogFault {
  readonly kind: FaultKind
  /** The chain; null when the fault is about no chain. */
  readonly chain: string | null
  /** The number of the first entry, or of the checkpoint, with the fault; null when the fault is about neither. */
  readonly sequence: number | null
  /** More about the fault, such as the last missing entry; null when there is no more to say. */
  readonly detail: string | null
}

export interface VerificationCounts {
  chains: number
  entries: number
  persons: number
  erased: number
  pruned: number
  checkpoints: number
  tombstones: number
  reviews: number
  /** The number of reviews whose operator and time no seal covers: earlier versions of Rollcall wrote them. */
  unsealed_reviews: number
  witnessed: number
}

/** Entries at the end of a chain that no checkpoint signs. */
export interface UnsignedChainTail {
  readonly chain: string
  readonly from: number
  readonly to: number
  /** The time of the last unsigned entry. */
  readonly at: string
}

/** A restore of the database, as its signed tombstone describes it. */
export interface ReportedRestore {
  readonly at: string
  readonly snapshot_at: string
  readonly backup: string | null
  readonly reason: string
  readonly journal: number | null
  /** The chains that had not ended in the restored database, each with its last entry there. Later entries may be lost. */
  readonly open: readonly { readonly chain: string; readonly sequence: number }[]
  /** The number of checkpoints that the witness has, and that this restore lost. */
  witnessed: number
}

/** The most faults and tails that are listed; more are counted. */
const MOST_LISTED_FAULTS = 100
const MOST_LISTED_CHAIN_TAILS = 20

export interface VerificationReport {
  readonly counts: VerificationCounts
  readonly faults: readonly AuditLogFault[]
  /** The chains that have faults. */
  readonly faulty: ReadonlySet<string>
  faultCount: number
  readonly tails: readonly UnsignedChainTail[]
  /** The last entry of each tail, by chain. */
  readonly ends: ReadonlyMap<string, Pick<UnsignedChainTail, 'to' | 'at'>>
  /** The restores, the oldest first. */
  readonly restores: ReportedRestore[]
  /** The number of unsigned entries in all tails. */
  unsigned: number
  fault(kind: FaultKind, chain: string | null, sequence?: number | null, detail?: string | null): void
  tail(tail: UnsignedChainTail): void
}

export function newReport(): VerificationReport {
  const faults: AuditLogFault[] = []
  const faulty = new Set<string>()
  const tails: UnsignedChainTail[] = []
  const ends = new Map<string, UnsignedChainTail>()
  const counts = { chains: 0, entries: 0, persons: 0, erased: 0, pruned: 0 }
  return {
    counts: { ...counts, checkpoints: 0, tombstones: 0, reviews: 0, unsealed_reviews: 0, witnessed: 0 },
    faults,
    faulty,
    tails,
    ends,
    restores: [],
    faultCount: 0,
    unsigned: 0,
    fault(kind, chain, sequence = null, detail = null) {
      this.faultCount += 1
      if (chain !== null) faulty.add(chain)
      if (faults.length < MOST_LISTED_FAULTS) faults.push({ kind, chain, sequence, detail })
    },
    tail(tail) {
      this.unsigned += tail.to - tail.from + 1
      ends.set(tail.chain, tail)
      tails.push(tail)
      tails.sort((a, b) => b.to - b.from - (a.to - a.from))
      tails.length = Math.min(tails.length, MOST_LISTED_CHAIN_TAILS)
    },
  }
}
