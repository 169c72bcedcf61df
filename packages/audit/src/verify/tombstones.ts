/** Reads the tombstones of the audit log, which say what was removed and may therefore be missing. */

import type { SnapshotConnection } from '@rollcall/database/transaction'
import { findTombstonesOfChain, type TombstoneToVerify } from '../store/entry-pages.ts'
import { chainsNamedIn, type PrunedChain, type RestoreTombstone, type TombstoneContent } from '../tombstones.ts'
import { isSameTime } from './chain.ts'
import type { Verifier } from './keys.ts'
import type { VerificationReport } from './report.ts'

/** The facts in the tombstones whose signature is valid. */
export interface TombstoneFacts {
  /** Finds the last pruned entry of a chain; undefined when none was pruned. */
  pruned(chain: string): PrunedChain | undefined
  /** Finds the persons of a chain that were erased, each as `sequence/position`. */
  erased(chain: string): Promise<ReadonlySet<string>>
  /** The restores of the database, the oldest first. */
  readonly restores: readonly RestoreTombstone[]
}

/** Verifies the tombstones, and reports their faults. */
export async function verifyTombstones(
  snapshot: SnapshotConnection,
  rows: AsyncIterable<TombstoneToVerify>,
  verifier: Verifier,
  report: VerificationReport,
): Promise<TombstoneFacts> {
  const pruned = new Map<string, PrunedChain>()
  const signed = new Set<string>()
  const erasing = new Set<string>()
  const restores: RestoreTombstone[] = []
  for await (const row of rows) {
    report.counts.tombstones += 1
    const content = verifyTombstone(row, verifier, report)
    if (content === null) continue
    signed.add(row.id)
    if (content.kind === 'erasure') for (const chain of chainsNamedIn(content)) erasing.add(chain)
    else if (content.kind === 'restore') restores.push(content)
    else {
      for (const part of content.pruned) if (part.sequence > (pruned.get(part.chain)?.sequence ?? 0)) pruned.set(part.chain, part)
    }
  }
  return {
    restores,
    pruned: (chain) => pruned.get(chain),
    async erased(chain) {
      const places = new Set<string>()
      if (!erasing.has(chain)) return places
      for (const { id, content } of await findTombstonesOfChain(snapshot, chain)) {
        if (!signed.has(id)) continue
        const parsed = JSON.parse(content) as TombstoneContent
        if (parsed.kind !== 'erasure') continue
        for (const [sequence, position] of parsed.erased[chain] ?? []) places.add(`${sequence}/${position}`)
      }
      return places
    },
  }
}

/** Verifies a tombstone and reports its faults; null when it has no valid signature, so that it excuses nothing. */
function verifyTombstone(row: TombstoneToVerify, verifier: Verifier, report: VerificationReport): TombstoneContent | null {
  if (!verifier.isSigned(row)) {
    report.fault('tombstone_signature', row.chains[0] ?? null, null, `tombstone ${row.id}`)
    return null
  }
  const content = JSON.parse(row.content) as TombstoneContent
  const same = chainsNamedIn(content).join() === row.chains.join() && isSameTime(row.at, content.at)
  if (!same) report.fault('tombstone_columns', row.chains[0] ?? null, null, `tombstone ${row.id}`)
  return content
}
