/** A search of a live source has one time for all its statements, and a participant a share of the connections. */

import { NOBODY_PROTECTED } from '@rollcall/core/model/protection'
import { RecordsUnavailable, SearchTimeout } from '@rollcall/core/model/record-source'
import { type Kind, kindNamed } from '@rollcall/protocol'
import { afterEach, expect, test, vi } from 'vitest'
import type { OpenEngine, RowSelection, SourceRow } from './engine/engine.ts'
import { createLiveRecordAccess } from './live-records.ts'
import { readSourceFile } from './source-file.ts'

const kind = kindNamed('civil') as Kind
const [recordType] = kind.record_types
const registry = { id: 1, kind }
const file = readSourceFile(
  {
    engine: 'postgresql',
    url: { env: 'OFFICE' },
    way: 'live',
    pool: 2,
    records: { Person: { from: 'office.person', key: 'no', columns: { 'identifier[UIN]': 'uin' } } },
  },
  kind,
)
afterEach(() => vi.useRealTimers())

/** A source whose rows are given by hand. */
function sourceOf(rows: (asked: RowSelection) => Promise<readonly SourceRow[]>, given = file) {
  let held = 0
  const unasked = () => Promise.reject(new Error('not asked for'))
  const engine: OpenEngine = {
    async begin() {
      held += 1
      return {
        rows: (_, asked) => rows(asked),
        mark: unasked,
        changes: unasked,
        async end() {
          held -= 1
        },
      }
    },
    bounds: async () => true,
    isAway: () => false,
    failureOf: () => null,
    quoted: String,
    log: () => expect.fail('it has no log'),
    ...{ report: unasked, slow: unasked, checkKey: unasked, catalog: unasked, sample: unasked, close: unasked },
  }
  const { source } = createLiveRecordAccess(kind, given, engine, async () => NOBODY_PROTECTED)
  return { source, held: () => held }
}

const predicate = { is: 'identifier', identifiers: [{ type: 'UIN', value: 'A1' }] } as const
const page = { sort: [], limit: 10, offset: 0, cap: 100_000 }
const rowsFrom = (after: string | null): SourceRow[] =>
  Array.from({ length: 1_000 }, (_, at) => ({ key: String(Number(after ?? 0) + at + 1), cells: ['B1'], children: [] }))

test('all statements of a search have the time of one search, each what is left', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const within: (number | undefined)[] = []
  const isLast: (boolean | undefined)[] = []
  const { source, held } = sourceOf(async (asked) => {
    within.push(asked.within)
    isLast.push(asked.isLast)
    vi.advanceTimersByTime(4_000)
    return rowsFrom(asked.after)
  })
  const reader = source.reader('sync')
  const error = await reader.find(registry, { recordType, predicate, page }).catch((caught) => caught)
  expect(error).toBeInstanceOf(SearchTimeout)
  expect(error).toMatchObject({ seconds: 10, cause: expect.any(RecordsUnavailable) })
  expect(within).toEqual([10_000, 6_000, 2_000])
  // A first portion that is not the only one is read again in the state of the others.
  expect(isLast).toEqual([true, false, false])
  // So it is with everything that reads many rows.
  await expect(reader.count(registry, recordType)).rejects.toBeInstanceOf(SearchTimeout)
  await expect(reader.named(registry, recordType, ['A1'])).rejects.toBeInstanceOf(SearchTimeout)
  const next = { recordType, predicate, since: null, after: null, limit: 500 }
  await expect(reader.page(registry, next)).rejects.toBeInstanceOf(SearchTimeout)
  expect(held()).toBe(0)
})

test('a participant whose searches do not end leaves a connection to others', async () => {
  const { promise, resolve } = Promise.withResolvers<readonly SourceRow[]>()
  const { source, held } = sourceOf(() => promise)
  const search = (participant: number) => source.reader('sync').find(registry, { recordType, predicate, page, participant })
  const slow = [search(1), search(1), search(1)]
  await vi.waitFor(() => expect(held()).toBe(1))
  const other = search(2)
  await vi.waitFor(() => expect(held()).toBe(2))
  resolve([])
  expect((await Promise.all([...slow, other])).map(({ total }) => total)).toEqual([0, 0, 0, 0])
  expect(held()).toBe(0)
})

test('who finds no connection in time is refused: a participant with the reason, and a reading for all as away', async () => {
  vi.useFakeTimers()
  const { promise, resolve } = Promise.withResolvers<readonly SourceRow[]>()
  const { source } = sourceOf(() => promise)
  const reader = source.reader('sync')
  const search = () => reader.find(registry, { recordType, predicate, page, participant: 1 })
  const [first, second] = [search(), search().catch((error) => error)]
  const [third, fourth] = [1, 2].map(() => source.session(() => reader.read(registry, recordType, ['1'])).catch((error) => error))
  await vi.advanceTimersByTimeAsync(10_001)
  expect(await second).toMatchObject({
    code: 'err.service.unavailable',
    message:
      'a search was not begun within 10 seconds: too many slow searches of this participant are under way; send fewer at a time',
  })
  expect(await third).toBeInstanceOf(RecordsUnavailable)
  expect(await fourth).toBeInstanceOf(RecordsUnavailable)
  resolve([])
  await first
})

test('reading goes on after a portion that ends with empty keys', async () => {
  const asked: (string | null)[] = []
  const { source } = sourceOf(async ({ after, isLast }) => {
    if (!isLast) asked.push(after)
    const length = after === null ? 1_000 : 1
    return Array.from({ length }, () => ({ key: after === null ? '' : 'a', cells: ['A1'], children: [] }))
  })
  const reader = source.reader('sync')
  expect(await reader.count(registry, recordType)).toBe(1)
  expect(asked).toEqual([null, ''])
})

test('a portion that ends where it began is the last one', async () => {
  const { source } = sourceOf(async () => Array.from({ length: 1_000 }, () => ({ key: '', cells: [], children: [] })))
  expect(await source.reader('sync').count(registry, recordType)).toBe(0)
})

test('rows that cannot become records count as candidates: a search does not read more than it may', async () => {
  let portions = 0
  const rows = async ({ after, isLast }: RowSelection) => {
    if (!isLast) portions += 1
    // These rows have no primary identifier.
    return portions > 20 ? [] : rowsFrom(after).map((row) => ({ ...row, cells: [''] }))
  }
  const { source } = sourceOf(rows, { ...file, candidates: 1_000 })
  const found = await source.reader('sync').find(registry, { recordType, predicate, page })
  expect(found).toEqual({ total: page.cap + 1, records: [], ids: [], tooManyRows: true })
  expect(portions).toBe(2)
})
