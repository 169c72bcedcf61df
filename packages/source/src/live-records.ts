/** Reads records that stay in their own database: each question reads them there, and nothing is copied. */

import type { Protection } from '@rollcall/core/model/protection'
import { type RecordReader, RecordsUnavailable, SearchTimeout } from '@rollcall/core/model/record-source'
import type { RegistryShape } from '@rollcall/core/model/registry'
import {
  makeSourceReader,
  type SearchCandidatePortion,
  type SearchCandidateSource,
  type SourceRecord,
} from '@rollcall/core/policy/guarded-records'
import { isTextStorable } from '@rollcall/database/text'
import { createSearchSlots, type SearchSlots } from '@rollcall/participants/admission/search-slots'
import { type Kind, RequestFault, searchableNames } from '@rollcall/protocol'
import type { RegistryRecords } from '@rollcall/records/records/registry-records'
import { ANY_RECORD_MAY_MATCH } from './engine/column-test.ts'
import { withSnapshot } from './engine/connections.ts'
import type { OpenEngine, RowSelection, SourceRow, SourceSnapshot } from './engine/engine.ts'
import type { RecordMapping, SourceFile } from './engine/mapped-records.ts'
import { nextKey } from './engine/row-statement.ts'
import { omitUnmappedAttributes } from './given-attributes.ts'
import { neededConditionOf } from './needed.ts'
import { findSearchRefusal } from './refusal.ts'
import { readRow } from './source-record.ts'
import { isLiveRecordId, keyOfLiveId, liveId } from './store/live-ids.ts'

/** The most rows of a source that one statement reads. */
const MOST_PORTION_ROWS = 1_000

/** The most bytes of a key, which becomes the record's id and is stored with pages of an answer. */
const MOST_KEY_BYTES = 64

/** The milliseconds for all statements of a search, unless the process has another limit. */
const MOST_SEARCH_MILLISECONDS = 10_000

interface SearchTimeLimit {
  /** Milliseconds after which a search begins no further statement. */
  readonly most: number
  readonly now: () => number
}

/** The participant id under which all work other than a participant's search takes its slot. */
const NO_PARTICIPANT = 0

/**
 * Makes the functions that read the records of a source live.
 * @param protectionOf reads the protected persons of a registry
 * @param most milliseconds for all statements of a search
 */
export function createLiveRecordAccess(
  kind: Kind,
  file: SourceFile,
  engine: OpenEngine,
  protectionOf: (registry: RegistryShape) => Promise<Protection>,
  most = MOST_SEARCH_MILLISECONDS,
  now = (): number => performance.now(),
): RegistryRecords {
  const time: SearchTimeLimit = { most, now }
  // The slots keep a participant with slow searches from taking all connections, if the pool has more than one.
  const slots = createSearchSlots({ slots: file.pool, timeout: most / 1_000 })
  const reader = makeReaderInSlots(makeLiveReader({ kind, file, begin: engine.begin, isOwn: true, protectionOf, time }), slots)
  return {
    source: {
      reader: () => reader,
      async session(work) {
        // This reads the types of columns before the session begins. Within the session, the function `refusal` below would
        // need a second connection to read them.
        for (const records of file.records.values()) await engine.bounds(records, ANY_RECORD_MAY_MATCH)
        return runInSlot(slots, () =>
          withSnapshot(engine.begin, (state) => {
            const begin = async (): Promise<SourceSnapshot> => ({ ...state, end: async () => undefined })
            return work(makeLiveReader({ kind, file, begin, isOwn: false, protectionOf, time }))
          }),
        )
      },
      refusal: (registry, { recordType, predicate }) =>
        findSearchRefusal(file.records.get(recordType.name), predicate, engine, searchableNames(registry.kind, recordType)),
    },
    within: () => reader,
    sink: null,
  }
}

interface LiveReaderDeps {
  readonly kind: Kind
  readonly file: SourceFile
  /** Begins a snapshot of the source. In a session (`source.session`), returns the one that all reads of the session share. */
  readonly begin: () => Promise<SourceSnapshot>
  /** True when nothing else reads in the snapshot that `begin` gives; false in a session. */
  readonly isOwn: boolean
  readonly protectionOf: (registry: RegistryShape) => Promise<Protection>
  readonly time: SearchTimeLimit
}

function makeLiveReader(reading: LiveReaderDeps): RecordReader {
  const { file, protectionOf } = reading
  const source: SearchCandidateSource = {
    most: file.candidates,
    candidates(_registry, { name }, predicate, after) {
      const records = file.records.get(name)
      const needed = records === undefined || predicate === null ? ANY_RECORD_MAY_MATCH : neededConditionOf(records, predicate)
      return readRecordPortions(reading, records, { needed, keys: null, after: after === null ? null : keyOfLiveId(after) })
    },
    async read(_registry, { name }, ids) {
      const found = new Map<string, SourceRecord>()
      const keys = ids.flatMap((id) => keyOfLiveId(id) ?? [])
      if (keys.length === 0) return []
      const asked = { needed: ANY_RECORD_MAY_MATCH, keys, after: null }
      for await (const { records } of readRecordPortions(reading, file.records.get(name), asked)) {
        for (const record of records) found.set(record.id, record)
      }
      return ids.flatMap((id) => found.get(id) ?? [])
    },
  }
  const reader = makeSourceReader(source, protectionOf)
  return {
    ...reader,
    async read(registry, recordType, ids, categories) {
      if (ids.some((id) => !isLiveRecordId(id))) throw new Error('records were found before they were read live')
      return reader.read(registry, recordType, ids, categories)
    },
  }
}

/** Makes a reader that runs each call in a slot: that of the participant of a search, or of `NO_PARTICIPANT`. */
function makeReaderInSlots(reader: RecordReader, slots: SearchSlots): RecordReader {
  const run = <Result>(work: () => Promise<Result>): Promise<Result> => runInSlot(slots, work)
  return {
    find: (registry, query) => slots.run(query.participant ?? NO_PARTICIPANT, () => reader.find(registry, query)),
    read: (...asked) => run(() => reader.read(...asked)),
    merged: (...asked) => run(() => reader.merged(...asked)),
    named: (...asked) => run(() => reader.named(...asked)),
    categories: (...asked) => run(() => reader.categories(...asked)),
    count: (...asked) => run(() => reader.count(...asked)),
    page: (...asked) => run(() => reader.page(...asked)),
  }
}

/** Runs work in a slot of `NO_PARTICIPANT`. @throws RecordsUnavailable no slot became free in time, or too many wait */
async function runInSlot<Result>(slots: SearchSlots, work: () => Promise<Result>): Promise<Result> {
  try {
    return await slots.run(NO_PARTICIPANT, work)
  } catch (error) {
    // A RequestFault of the slots would tell a participant to send fewer requests. This work is no search of a participant.
    throw error instanceof RequestFault ? new RecordsUnavailable(error) : error
  }
}

/**
 * Yields the wanted rows as records, without rows that cannot become records. If no other reads share the snapshot (`isOwn`), the
 * first portion is read as if there were no second one (`isLast`), which costs less. If there are more rows, the first portion is
 * read again in a snapshot that stays open, so that all rows come from one snapshot.
 * @param records undefined: the source has none of the type
 * @throws SearchTimeout the statements took longer than a search may take
 */
async function* readRecordPortions(
  { kind, begin, isOwn, time }: LiveReaderDeps,
  records: RecordMapping | undefined,
  asked: Pick<RowSelection, 'needed' | 'keys' | 'after'>,
  written = new Date(),
): AsyncGenerator<SearchCandidatePortion> {
  if (records === undefined || asked.needed.is === 'nothing') return
  const given = omitUnmappedAttributes(records)
  let { after } = asked
  let isLast = isOwn
  const state = await begin()
  const until = time.now() + time.most
  try {
    for (;;) {
      const within = Math.ceil(until - time.now())
      if (within <= 0) throw new SearchTimeout(new RecordsUnavailable(null), time.most / 1_000)
      const rows = await state.rows(records, { ...asked, after, limit: MOST_PORTION_ROWS, within, isLast })
      const next = nextKey(rows, MOST_PORTION_ROWS, after)
      if (isLast && next !== null) {
        isLast = false
        continue
      }
      yield { records: rows.flatMap((row) => makeLiveRecord(kind, given, row, written) ?? []), rows: rows.length }
      if (next === null) return
      after = next
    }
  } finally {
    await state.end()
  }
}

/**
 * Makes a record from a row; null: the row cannot become one.
 * @param written the time of the question, because a source does not say when a record was written
 */
function makeLiveRecord(kind: Kind, records: RecordMapping, row: SourceRow, written: Date): SourceRecord | null {
  if (!canBeKey(row.key)) return null
  const { record, document: value, problems } = readRow(kind, records, row)
  if (record === null || problems.length > 0) return null
  return { id: liveId(row.key), document: record.document, value, written, merged: [] }
}

/** True when a text can be the key of a record: it has 1 to 64 bytes, and our database can store it. */
export const canBeKey = (key: string): boolean => key !== '' && Buffer.byteLength(key) <= MOST_KEY_BYTES && isTextStorable(key)
