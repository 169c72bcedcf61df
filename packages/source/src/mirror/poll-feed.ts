/** Finds changed rows by a column that grows with every change, such as a time or a version. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isJsonObject } from '@rollcall/protocol'
import type { ChangedRow, SourceSnapshot } from '../engine/engine.ts'
import type { MappedTable } from '../engine/mapped-records.ts'
import type { ChangeFeed } from './feed.ts'
import type { MirrorDeps } from './mirror-deps.ts'
import { runInSnapshot } from './read-source.ts'

/** The most changed rows that one statement of a poll lists. */
const MOST_PAGE_ROWS = 10_000
/** The most changed rows that are read by their keys: if there are more, all records are compared. */
const MOST_CHANGED_ROWS_PER_POLL = 200_000
/** The least milliseconds between two polls that read the whole overlap again, to find changes of long transactions. */
const WHOLE_OVERLAP_INTERVAL_MS = 5_000
/** The share of the overlap that a poll reads again when it does not read the whole overlap. */
const PARTIAL_OVERLAP_SHARE = 0.1
/**
 * When more than `MOST_CHANGED_ROWS_PER_POLL` rows have changed, a poll lists rows until it has about this many. It remembers
 * them, so that the next poll does not count them as changed again.
 */
const MOST_LISTED_ROWS_PER_POLL = 1_000_000

/** A table, view or query of the source that has a column of changes. */
interface PolledTable {
  /** The name of this table's mark in the position of the mirror (`ChangeMarksByTable`). */
  readonly name: string
  readonly recordType: string
  readonly part: MappedTable
}

type ChangeMarksByTable = Readonly<Record<string, string>>

/** Makes the feed of a mirror that polls its source. */
export function createPollFeed(deps: Pick<MirrorDeps, 'engine' | 'file' | 'now'>): ChangeFeed {
  const { overlap } = deps.file.mirror
  const watched = [...deps.file.records.values()].flatMap(({ recordType: { name }, own, children }) =>
    [own, ...children].flatMap((part, at): PolledTable[] =>
      part.changed === null ? [] : [{ name: `${name} ${at}`, recordType: name, part }],
    ),
  )
  /** The rows within the overlap that are written already, by key and value of the column of changes. */
  let writtenRows = new Set<string>()
  /** The marks of the last poll, and the time of the last one that read the whole overlap; null: there was no poll. */
  let last: { readonly marks: ChangeMarksByTable; readonly wholeAt: number } | null = null
  const marksIn = async (state: SourceSnapshot): Promise<ChangeMarksByTable> => {
    const marks: Record<string, string> = {}
    for (const { name, part } of watched) marks[name] = await state.mark(part)
    return marks
  }
  return {
    begin: () => runInSnapshot(deps, marksIn),
    async next(given, wait, signal) {
      if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => undefined)
      const currentAt = deps.now()
      // The absolute difference is compared, because the clock may have been set back.
      const isWhole = last === null || Math.abs(currentAt.getTime() - last.wholeAt) >= WHOLE_OVERLAP_INTERVAL_MS
      const before = isWhole || last === null ? ((isJsonObject(given) ? given : {}) as ChangeMarksByTable) : last.marks
      const back = isWhole ? overlap : overlap * PARTIAL_OVERLAP_SHARE
      return runInSnapshot(deps, async (state) => {
        const marks = await marksIn(state)
        const due = new Map<string, string[]>()
        const listed = new Set<string>()
        let count = 0
        let loss: string | null = watched.some(({ name }) => isPlaceLost(before[name], marks[name], overlap))
          ? 'its column of changes went back, or has values of another sort'
          : null
        for (const { name, recordType, part } of watched) {
          const since = before[name]
          if (since === undefined) loss = 'its position is lost'
          if (loss !== null || since === undefined) continue
          for await (const { key, mark } of listChangedRows(state, part, { since, overlap: back })) {
            const row = `${name} ${mark} ${key}`
            const isKnown = writtenRows.has(row)
            listed.add(row)
            if (isKnown && isPreciseMark(mark)) continue
            if (!isKnown) count += 1
            if (count > MOST_CHANGED_ROWS_PER_POLL) {
              if (listed.size > MOST_LISTED_ROWS_PER_POLL) break
              continue
            }
            const keys = due.get(recordType) ?? []
            keys.push(key)
            due.set(recordType, keys)
          }
        }
        if (count > MOST_CHANGED_ROWS_PER_POLL)
          loss = `more than ${MOST_CHANGED_ROWS_PER_POLL} rows have changed since the last poll`
        return {
          due: loss !== null ? new Map() : new Map([...due].map(([type, keys]) => [type, [...new Set(keys)]])),
          // A partial poll returns the position `given`: there the next poll of the whole overlap begins, also on another node.
          position: isWhole || loss !== null ? marks : given,
          loss,
          currentAt,
          committed() {
            if (isWhole) writtenRows = listed
            else for (const row of listed) writtenRows.add(row)
            last = { marks, wholeAt: isWhole || last === null ? currentAt.getTime() : last.wholeAt }
          },
        }
      })
    },
    close: async () => undefined,
  }
}

/**
 * True when a row's value in the column of changes is a whole number, or a time with milliseconds: every change is then taken to
 * give the row a new value. A time without milliseconds is the same after two changes in a second. So its row is read by each
 * poll that lists it, until it is older than the overlap.
 */
const isPreciseMark = (mark: string): boolean => /^-?\d+$|\.\d{3}/.test(mark)

/**
 * True when it is unknown what has changed: the mark went back by more than the overlap, or the column of changes had times
 * before and has whole numbers now, or had whole numbers and has times now. Only the mark of a time has a decimal point.
 */
const isPlaceLost = (before: string | undefined, now: string | undefined, overlap: number): boolean =>
  before !== undefined &&
  now !== undefined &&
  (Number(now) < Number(before) - overlap || before.includes('.') !== now.includes('.'))

async function* listChangedRows(
  state: SourceSnapshot,
  part: MappedTable,
  { since, overlap }: { readonly since: string; readonly overlap: number },
): AsyncGenerator<ChangedRow> {
  let after: ChangedRow | null = null
  for (;;) {
    const rows: readonly ChangedRow[] = await state.changes(part, { since, overlap, after, limit: MOST_PAGE_ROWS })
    yield* rows
    after = rows.at(-1) ?? null
    if (after === null || rows.length < MOST_PAGE_ROWS) return
  }
}
