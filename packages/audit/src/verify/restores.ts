/** Decides from the tombstones of restores which checkpoints of the witness may be missing. */

import type { SnapshotConnection } from '@rollcall/database/transaction'
import { findKnownChains } from '../store/entry-pages.ts'
import type { RestoreTombstone } from '../tombstones.ts'
import type { WitnessLine } from '../witness-line.ts'
import type { ReportedRestore, VerificationReport } from './report.ts'

/** Tells which checkpoints are missing because of a restore. */
export interface LostCheckpointFinder {
  /** Finds which of the missing checkpoints were lost by a restore, and counts them for that restore in the report. */
  excused(missing: readonly WitnessLine[]): Promise<ReadonlySet<WitnessLine>>
}

const CHAIN_ID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function createLostCheckpointFinder(
  snapshot: SnapshotConnection,
  restores: readonly RestoreTombstone[],
  report: VerificationReport,
): LostCheckpointFinder {
  const gaps = restores.map((restore) => ({
    restore,
    signed: new Map(restore.open.map(({ chain, signed }) => [chain, signed])),
    shown: toReportedRestore(restore),
  }))
  report.restores.push(...gaps.map(({ shown }) => shown))
  return {
    async excused(missing) {
      const excused = new Set<WitnessLine>()
      if (gaps.length === 0) return excused
      const known = await findKnownChains(
        snapshot,
        missing.map(({ chain }) => chain).filter((chain) => CHAIN_ID_PATTERN.test(chain)),
      )
      for (const line of missing) {
        const gap = gaps.find(({ restore, signed }) => {
          if (line.at <= restore.from || line.at > restore.at) return false
          const last = signed.get(line.chain)
          // A stored chain that is not in `open` had ended and lost nothing. A chain that is not stored began after the snapshot.
          return last === undefined ? !known.has(line.chain) : line.sequence >= last
        })
        if (gap === undefined) continue
        gap.shown.witnessed += 1
        excused.add(line)
      }
      return excused
    },
  }
}

const toReportedRestore = ({ at, snapshot_at, backup, reason, journal, open }: RestoreTombstone): ReportedRestore => ({
  at,
  snapshot_at,
  backup,
  reason,
  journal,
  witnessed: 0,
  open: open.map(({ chain, sequence }) => ({ chain, sequence })),
})
