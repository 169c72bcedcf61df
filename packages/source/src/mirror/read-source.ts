/** Reads the source of a mirror. */

import { makeDatabaseFailureRefusal } from '../database-refusal.ts'
import { ANY_RECORD_MAY_MATCH } from '../engine/column-test.ts'
import { withSnapshot } from '../engine/connections.ts'
import type { SourceRow, SourceSnapshot } from '../engine/engine.ts'
import type { RecordMapping } from '../engine/mapped-records.ts'
import { SourceRefusal } from '../engine/source-refusal.ts'
import type { MirrorDeps } from './mirror-deps.ts'

/** The most rows of a portion, and the most keys of one statement. */
export const PORTION_ROWS = 1_000

type SourceDeps = Pick<MirrorDeps, 'engine' | 'file'>

/**
 * Runs work with the source, and explains its errors. The work must not use our own database: its errors would be explained as
 * errors of the source.
 * @throws SourceRefusal the source cannot be read; the message is for an operator
 */
export async function withExplainedFailures<Result>({ engine, file }: SourceDeps, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw makeDatabaseFailureRefusal(error, file, engine)
  }
}

/**
 * Runs work in one snapshot of the source. The work may use our own database too: only failures of the snapshot are
 * explained as failures of the source.
 * @throws SourceRefusal as `withExplainedFailures`; or any error of the work
 */
export function runInSnapshot<Result>(source: SourceDeps, work: (state: SourceSnapshot) => Promise<Result>): Promise<Result> {
  const explain = <Read>(read: () => Promise<Read>): Promise<Read> => withExplainedFailures(source, read)
  const begin = () => explain(() => source.engine.begin())
  return withSnapshot(begin, (state) =>
    work({
      rows: (...asked) => explain(() => state.rows(...asked)),
      mark: (part) => explain(() => state.mark(part)),
      changes: (...asked) => explain(() => state.changes(...asked)),
      end: state.end,
    }),
  )
}

/** Reads the rows with these keys, with their children. Rows that are gone, or that `where` excludes, are left out. */
export async function readRowsByKeys(
  state: SourceSnapshot,
  records: RecordMapping,
  keys: readonly string[],
): Promise<readonly SourceRow[]> {
  const rows: SourceRow[] = []
  for (let at = 0; at < keys.length; at += PORTION_ROWS) {
    const some = keys.slice(at, at + PORTION_ROWS)
    const found = await state.rows(records, { needed: ANY_RECORD_MAY_MATCH, keys: some, after: null, limit: 2 * PORTION_ROWS })
    // With so many rows, several have the same key, and the limit may have cut off others. Those would be taken for deleted.
    if (found.length === 2 * PORTION_ROWS) {
      const { recordType, own } = records
      throw new SourceRefusal(`records.${recordType.name}.key: ${own.key} is the same in several rows`)
    }
    rows.push(...found)
  }
  return rows
}
