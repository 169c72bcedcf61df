import { expect, test } from 'vitest'
import type { RowReadResult } from '../source-record.ts'
import { isComparisonDue } from './compare-records.ts'
import { decideSourceRowOutcomes } from './outcomes.ts'
import { readRowsByKeys } from './read-source.ts'

const record = (primary_identifier: string) => ({ primary_identifier, document: '{}', identifiers: [], columns: [] })
const read = (primary: string | null): RowReadResult =>
  ({ record: primary === null ? null : record(primary), problems: primary === null ? ['no date'] : [] }) as never

/** Rows as they are now, and what they were before; null: unreadable. */
function outcomes(now: Record<string, string | null>, before: Record<string, string | null>, keys = Object.keys(now)) {
  const rows = new Map(Object.entries(now).map(([key, primary]) => [key, read(primary)]))
  const {
    records,
    gone,
    released,
    renamed,
    rows: found,
  } = decideSourceRowOutcomes('UIN', keys, rows, new Map(Object.entries(before)))
  const rejected = found.flatMap(({ key, reason }) => (reason === null ? [] : [`${key}: ${reason}`]))
  const changes = renamed.map(({ was, is }) => `${was}>${is}`)
  return { records: records.map(({ key, record: one }) => `${key}=${one.primary_identifier}`), gone, released, changes, rejected }
}

test('rows that exchange their identifiers are two records, and nothing goes', () => {
  expect(outcomes({ 1: 'B', 2: 'A' }, { 1: 'A', 2: 'B' })).toEqual({
    records: ['1=B', '2=A'],
    gone: [],
    released: [],
    changes: ['A>B', 'B>A'],
    rejected: [],
  })
})

test('of two rows with one identifier that which had it stays, and the other one leaves its own', () => {
  expect(outcomes({ 1: 'A', 2: 'A' }, { 1: 'B', 2: 'A' })).toEqual({
    records: ['2=A'],
    gone: [],
    released: ['B'],
    changes: [],
    rejected: ['1: another row has the same UIN'],
  })
})

test('a row that cannot be read keeps its record, which no other row takes; a row that is gone leaves its own', () => {
  expect(outcomes({ 1: null, 2: 'A' }, { 1: 'A', 2: null, 3: 'C' }, ['1', '2', '3'])).toEqual({
    records: [],
    gone: ['3'],
    released: ['C'],
    changes: [],
    rejected: ['1: no date', '2: another row has the same UIN'],
  })
})

test('rows are not gone because too many have one key', async () => {
  const records = { recordType: { name: 'Person' }, own: { key: 'no' } }
  const rows = Array.from({ length: 2_000 }, () => ({ key: 'a', cells: [], children: [] }))
  await expect(readRowsByKeys({ rows: async () => rows } as never, records as never, ['a', 'b'])).rejects.toThrow(
    'records.Person.key: no is the same in several rows',
  )
})

test('records are compared once a day at its time, in the zone of the source', () => {
  const due = (compared: string, now: string) => isComparisonDue('Africa/Nairobi', '03:00', new Date(compared), new Date(now))
  expect(due('2026-11-27T00:00:00Z', '2026-11-27T23:59:00Z')).toBe(false)
  expect(due('2026-11-27T00:00:00Z', '2026-11-28T00:00:00Z')).toBe(true)
  expect(due('2026-11-28T00:00:00Z', '2026-11-28T20:00:00Z')).toBe(false)
  expect(due('2026-11-27T23:59:00Z', '2026-11-28T00:00:00Z')).toBe(true)
  expect(due('2027-11-28T00:00:00Z', '2026-11-28T00:00:00Z'), 'a clock that was ahead').toBe(true)
})
