/** Verifies one chain of the audit log: the hash of each entry, the commitments to its persons, and each checkpoint. */
import { hash } from 'node:crypto'
import { entryHash, firstPreviousHash } from '../chain.ts'
import type { CheckpointContent } from '../checkpoints.ts'
import type { CheckpointToVerify, EntryToVerify, PersonToVerify } from '../store/entry-pages.ts'
import { COMMITMENT_BYTES, commitmentOf, SALT_BYTES } from '../store/packed-persons.ts'
import type { PrunedChain } from '../tombstones.ts'
import type { Cursor } from './cursor.ts'
import { areColumnsAsInEntryText, type EntryOfRow, readEntry } from './entry.ts'
import type { Verifier } from './keys.ts'
import type { VerificationReport } from './report.ts'

export interface VerifyChainDeps {
  readonly entries: Cursor<EntryToVerify>
  readonly persons: Cursor<PersonToVerify>
  readonly checkpoints: Cursor<CheckpointToVerify>
  readonly verifier: Verifier
  readonly report: VerificationReport
  readonly pruned: PrunedChain | undefined
  readonly erased: ReadonlySet<string>
  /** Called for each checkpoint of another chain that a correctly signed checkpoint of this chain (`by`, its id) names. */
  readonly named: (other: CheckpointContent['others'][number], by: string) => Promise<void>
}

/** True when a time text of the database, which has microseconds, is the same time as a text with milliseconds. */
export const isSameTime = (stored: string, milliseconds: string): boolean => stored === milliseconds.replace('Z', '000Z')

const TIME_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/

/** Verifies a chain, and reports its faults. The cursors give its rows in order. */
export async function verifyChain(chain: string, deps: VerifyChainDeps): Promise<void> {
  const { entries, report, pruned } = deps
  const checkpoints = createCheckpointCheck(chain, deps)
  const persons = createPersonCheck(chain, deps)
  let last = pruned?.sequence ?? 0
  let previous: Buffer | null = pruned === undefined ? firstPreviousHash(chain) : Buffer.from(pruned.hash, 'hex')
  let newest = new Date(0).toISOString()
  report.counts.chains += 1
  report.counts.pruned += last
  await checkpoints.reached(last, pruned === undefined ? null : previous)
  for (let row = await entries.peek(); row?.chain === chain; row = await entries.peek()) {
    await entries.take()
    const { sequence } = row
    report.counts.entries += 1
    if (sequence <= last) {
      report.fault(sequence <= (pruned?.sequence ?? 0) ? 'entry_pruned' : 'entry_inserted', chain, sequence)
      await persons.skip(sequence)
      continue
    }
    if (sequence > last + 1) {
      report.fault('entry_missing', chain, last + 1, `to ${sequence - 1}`)
      previous = null
    }
    // Microseconds that are not 0 stay, so that the hash does not match: the time was changed.
    const at = row.at.replace(/000Z$/, 'Z')
    const read = readEntry(row)
    if (row.shape !== null && row.content === '') report.fault('shape_missing', chain, sequence)
    else if (isEntryChanged(previous, row, at, read)) report.fault('entry_changed', chain, sequence)
    else if (!areColumnsAsInEntryText(row, read)) report.fault('entry_columns', chain, sequence)
    if (checkpoints.endedAt() < sequence) report.fault('entry_after_end', chain, sequence)
    await persons.check(row, read)
    previous = row.hash
    last = sequence
    if (TIME_PATTERN.test(at)) newest = at
    await checkpoints.reached(last, previous)
  }
  await persons.skip(Number.POSITIVE_INFINITY)
  await checkpoints.finish(last)
  const from = Math.max(checkpoints.signedTo(), pruned?.sequence ?? 0) + 1
  if (from <= last) report.tail({ chain, from, to: last, at: newest })
}

/**
 * True when the hash of an entry differs, or its text cannot be built.
 * @param previous the hash of the entry before; null: unknown, so the hash is not checked
 */
function isEntryChanged(
  previous: Buffer | null,
  { chain, sequence, hash }: EntryToVerify,
  at: string,
  { entry, commitments }: EntryOfRow,
): boolean {
  if (entry === null) return true
  return previous !== null && !entryHash(previous, { chain, sequence, at, entry, commitments }).equals(hash)
}

function createPersonCheck(chain: string, { persons, report, erased }: VerifyChainDeps) {
  /** Reports the rows of persons that are left for entries up to `sequence`: no commitment belongs to these rows. */
  const skip = async (sequence: number): Promise<void> => {
    for (let row = await persons.peek(); row?.chain === chain && row.sequence <= sequence; ) {
      report.fault('person_inserted', chain, row.sequence, `position ${row.position}`)
      await persons.take()
      row = await persons.peek()
    }
  }
  return {
    skip,
    async check({ sequence }: EntryToVerify, { runs, commitments, persons: count }: EntryOfRow): Promise<void> {
      if (runs !== null) {
        await skip(sequence)
        for (const [position, { person }] of runs.entries()) {
          const isErased = erased.has(`${sequence}/${position}`)
          if (person !== null) report.counts.persons += 1
          else if (isErased) report.counts.erased += 1
          else report.fault('person_missing', chain, sequence, `position ${position}`)
          if (person !== null && isErased) report.fault('person_erased', chain, sequence, `position ${position}`)
        }
        return
      }
      await skip(sequence - 1)
      let position = 0
      const missing = (until: number): void => {
        for (; position < until; position += 1) {
          if (erased.has(`${sequence}/${position}`)) report.counts.erased += 1
          else report.fault('person_missing', chain, sequence, `position ${position}`)
        }
      }
      for (let row = await persons.peek(); row?.chain === chain && row.sequence === sequence; ) {
        report.counts.persons += 1
        missing(Math.min(row.position, count))
        if (row.position >= count) report.fault('person_inserted', chain, sequence, `position ${row.position}`)
        else {
          const begin = position * COMMITMENT_BYTES
          if (!isCommitmentOfPerson(row, commitments.subarray(begin, begin + COMMITMENT_BYTES)))
            report.fault('person_changed', chain, sequence, `position ${position}`)
          if (erased.has(`${sequence}/${position}`)) report.fault('person_erased', chain, sequence, `position ${position}`)
          position += 1
        }
        await persons.take()
        row = await persons.peek()
      }
      missing(count)
    },
  }
}

/** True when a commitment belongs to a person's row. Lengths are checked: bytes could be moved to the next column. */
const isCommitmentOfPerson = (row: PersonToVerify, commitment: Buffer): boolean =>
  row.salt.length === SALT_BYTES && row.pseudonym.length === COMMITMENT_BYTES && commitmentOf(row).equals(commitment)

function createCheckpointCheck(chain: string, { checkpoints, verifier, report, named }: VerifyChainDeps) {
  let previous: string | null = null
  let signedTo = 0
  let ended = Number.POSITIVE_INFINITY
  /** Checks a checkpoint. @param entry the hash of the entry that the checkpoint signs; null: unknown, so it is not compared */
  const check = async (row: CheckpointToVerify, entry: Buffer | null): Promise<void> => {
    const { sequence } = row
    report.counts.checkpoints += 1
    const digest = hash('sha256', row.content, 'hex')
    const content = verifier.isSigned(row) ? (JSON.parse(row.content) as CheckpointContent) : null
    if (content === null) report.fault('checkpoint_signature', chain, sequence)
    else {
      if (!isCheckpointRowAsSigned(row, content, digest)) report.fault('checkpoint_columns', chain, sequence)
      if (content.previous !== previous || sequence < signedTo) report.fault('checkpoint_link', chain, sequence)
      if (entry !== null && content.hash !== entry.toString('hex')) report.fault('checkpoint_hash', chain, sequence)
      signedTo = Math.max(signedTo, sequence)
      verifier.checkKeys(content)
      if (content.ended) ended = Math.min(ended, sequence)
      for (const other of content.others) await named(other, chain)
    }
    previous = digest
  }
  return {
    endedAt: () => ended,
    signedTo: () => signedTo,
    /**
     * Checks the checkpoints that sign the entry `sequence` or an earlier one, and are not checked yet.
     * @param entry the hash of the entry `sequence`; null: `sequence` is 0, before the first entry
     */
    async reached(sequence: number, entry: Buffer | null): Promise<void> {
      for (let row = await checkpoints.peek(); row?.chain === chain && row.sequence <= sequence; ) {
        await check(row, row.sequence === sequence ? entry : null)
        await checkpoints.take()
        row = await checkpoints.peek()
      }
    },
    /** Checks the remaining checkpoints: the entries that they sign are missing. */
    async finish(last: number): Promise<void> {
      let signed = last
      for (let row = await checkpoints.peek(); row?.chain === chain; ) {
        await check(row, null)
        signed = Math.max(signed, row.sequence)
        await checkpoints.take()
        row = await checkpoints.peek()
      }
      if (signed > last) report.fault('entry_truncated', chain, last + 1, `to ${signed}`)
    },
  }
}

const isCheckpointRowAsSigned = (row: CheckpointToVerify, content: CheckpointContent, digest: string): boolean =>
  row.chain === content.chain &&
  row.sequence === content.sequence &&
  row.hash.toString('hex') === content.hash &&
  isSameTime(row.at, content.at) &&
  row.digest.toString('hex') === digest
