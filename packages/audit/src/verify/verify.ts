/** Verifies the audit log of a database in one snapshot, while the server goes on. */
import { hash } from 'node:crypto'

import type { Database } from '@rollcall/database/database'
import { type SnapshotConnection, withSnapshot } from '@rollcall/database/transaction'
import type { Vault } from '@rollcall/keys/vault'
import type { CheckpointContent } from '../checkpoints.ts'
import { listAuditKeys } from '../store/audit-keys.ts'
import {
  findCheckpoints,
  readCheckpoints,
  readEmergencyReviews,
  readEntries,
  readPersons,
  readShapes,
  readTombstones,
} from '../store/entry-pages.ts'
import { readWitnessLine, type WitnessLine } from '../witness-line.ts'
import { verifyChain } from './chain.ts'
import { cursorOf } from './cursor.ts'
import { createVerifier } from './keys.ts'
import { newReport, type VerificationReport } from './report.ts'
import { createLostCheckpointFinder, type LostCheckpointFinder } from './restores.ts'
import { verifyReviews } from './reviews.ts'
import { verifyTombstones } from './tombstones.ts'

export interface VerifyDeps {
  readonly db: Database
  /** Null without a master key: then nobody checks that the keys are our own, and reviews are only counted. */
  readonly vault: Vault | null
  /** The lines that the witness has; null: no witness. They must be older than the call: the snapshot lacks later ones. */
  readonly witness: AsyncIterable<string> | null
  /** Gets the findings while entries are read, so that the caller can show them; absent: a new report. */
  readonly report?: VerificationReport
  /** Aborts the reading of rows and of lines of the witness: the call rejects. */
  readonly signal?: AbortSignal
}

export interface LogVerificationResult {
  readonly report: VerificationReport
  /** The kids of the keys that have made a valid signature, sorted. */
  readonly keys: readonly string[]
}

export async function verifyAuditLog({
  db,
  vault,
  witness,
  report = newReport(),
  signal,
}: VerifyDeps): Promise<LogVerificationResult> {
  const keys = await listAuditKeys(db)
  return withSnapshot(db, async (snapshot) => {
    const verifier = await createVerifier(keys, vault, report)
    const tombstoneRows = rowsUntilAborted(signal, readTombstones(snapshot))
    const tombstones = await verifyTombstones(snapshot, tombstoneRows, verifier, report)
    const gaps = createLostCheckpointFinder(snapshot, tombstones.restores, report)
    const [entries, persons, checkpoints] = [
      cursorOf(rowsUntilAborted(signal, readEntries(snapshot))),
      cursorOf(rowsUntilAborted(signal, readPersons(snapshot))),
      cursorOf(rowsUntilAborted(signal, readCheckpoints(snapshot))),
    ]
    for await (const { digest, content } of rowsUntilAborted(signal, readShapes(snapshot)))
      if (!hash('sha256', content, 'buffer').equals(digest)) report.fault('shape_changed', null, null, digest.toString('hex'))
    const others = createOtherChainCheck(snapshot, report)
    for (;;) {
      const heads = [await entries.peek(), await persons.peek(), await checkpoints.peek()]
      const [chain] = heads.flatMap((head) => (head === undefined ? [] : [head.chain])).toSorted()
      if (chain === undefined) break
      await verifyChain(chain, {
        entries,
        persons,
        checkpoints,
        verifier,
        report,
        named: others.add,
        pruned: tombstones.pruned(chain),
        erased: await tombstones.erased(chain),
      })
    }
    await others.finish()
    await verifyReviews(rowsUntilAborted(signal, readEmergencyReviews(snapshot)), keys, vault, report)
    if (witness !== null) await compareWithWitness(snapshot, rowsUntilAborted(signal, witness), { report, gaps })
    return { report, keys: [...verifier.used].toSorted() }
  })
}

async function* rowsUntilAborted<Row>(signal: AbortSignal | undefined, rows: AsyncIterable<Row>): AsyncGenerator<Row> {
  for await (const row of rows) {
    signal?.throwIfAborted()
    yield row
  }
}

/** The most checkpoints that one statement looks up. */
const MOST_CHECKPOINTS_READ = 500

/** A checkpoint of another chain, as the content of a signed checkpoint names it. */
type OtherChainCheckpoint = CheckpointContent['others'][number]

/** A checkpoint names checkpoints of other chains. This check reports each named checkpoint that is not stored, once. */
function createOtherChainCheck(snapshot: SnapshotConnection, report: VerificationReport) {
  let waiting: { readonly other: OtherChainCheckpoint; readonly by: string }[] = []
  const missing = new Set<string>()
  const lookUp = async (): Promise<void> => {
    const found = await findCheckpoints(
      snapshot,
      waiting.map(({ other }) => other.digest),
    )
    for (const { other, by } of waiting) {
      const stored = found.get(other.digest)
      if (stored?.chain === other.chain && stored.sequence === other.sequence) continue
      // A missing checkpoint is reported once, even when several checkpoints name it.
      if (!missing.has(other.digest)) report.fault('checkpoint_missing', other.chain, other.sequence, `named by chain ${by}`)
      missing.add(other.digest)
    }
    waiting = []
  }
  return {
    async add(other: OtherChainCheckpoint, by: string): Promise<void> {
      waiting.push({ other, by })
      if (waiting.length >= MOST_CHECKPOINTS_READ) await lookUp()
    },
    finish: lookUp,
  }
}

async function compareWithWitness(
  snapshot: SnapshotConnection,
  lines: AsyncIterable<string>,
  { report, gaps }: { readonly report: VerificationReport; readonly gaps: LostCheckpointFinder },
): Promise<void> {
  let waiting: WitnessLine[] = []
  const lookUp = async (): Promise<void> => {
    const found = await findCheckpoints(
      snapshot,
      waiting.map(({ digest }) => digest),
    )
    const excused = await gaps.excused(waiting.filter(({ digest }) => !found.has(digest)))
    for (const line of waiting) {
      const { chain, sequence, hash, digest } = line
      const stored = found.get(digest)
      if (stored === undefined) {
        if (!excused.has(line)) report.fault('witness_missing', chain, sequence)
      } else if (stored.chain !== chain || stored.sequence !== sequence || stored.hash !== hash)
        report.fault('witness_different', chain, sequence)
    }
    waiting = []
  }
  for await (const line of lines) {
    const checkpoint = readWitnessLine(line)
    if (checkpoint === null) continue
    report.counts.witnessed += 1
    waiting.push(checkpoint)
    if (waiting.length >= MOST_CHECKPOINTS_READ) await lookUp()
  }
  await lookUp()
}
