import { expect, test } from 'vitest'
import { LogLost } from '../engine/change-log.ts'
import { haveTransactionsEnded, positionText } from './log-positions.ts'
import { ChangedKeyCollector } from './log-reading.ts'
import { slotName } from './open-change-log.ts'

const PARTS = new Map([['office.person', [{ recordType: 'Person', key: 'no' }]]])

const int16 = (value: number) => Buffer.from([value >> 8, value & 255])
const int32 = (value: number) => Buffer.concat([int16(value >> 16), int16(value & 65_535)])
const int64 = (value: number) => Buffer.concat([int32(0), int32(value)])
const text = (value: string) => Buffer.from(`${value}\0`)
const message = (letter: string, ...parts: readonly Buffer[]) => Buffer.concat([Buffer.from(letter), ...parts])

/** The number of the type text. */
const TEXT = 25
const relation = (column: string, type = TEXT, id = 1, table = 'person') =>
  message(
    'R',
    int32(id),
    text('office'),
    text(table),
    Buffer.from('d'),
    int16(1),
    Buffer.from([1]),
    text(column),
    int32(type),
    int32(-1),
  )
const begin = message('B', int64(0), int64(0), int32(0))
const insert = (key: string) =>
  message('I', int32(1), Buffer.from('N'), int16(1), Buffer.from('t'), int32(Buffer.byteLength(key)), Buffer.from(key))
const commit = (end: number) => message('C', Buffer.from([0]), int64(0), int64(end), int64(0))

function rowsOf(...first: readonly Buffer[]): ChangedKeyCollector {
  const rows = new ChangedKeyCollector(PARTS, 0n)
  for (const one of first) rows.message(one)
  return rows
}
const transaction = (rows: ChangedKeyCollector, end: number, ...keys: readonly string[]): void => {
  for (const one of [begin, ...keys.map(insert), commit(end)]) rows.message(one)
}
const taken = (rows: ChangedKeyCollector, most: number) => {
  const { due, isEmptied, position } = rows.keys.take(most)
  return { keys: [...(due.get('Person') ?? [])], isEmptied, position }
}

test('a transaction is taken with the position behind it; what only moves the position waits with it', () => {
  const rows = rowsOf(relation('no'))
  transaction(rows, 10, 'a', 'b')
  transaction(rows, 20)
  rows.alive(30n)
  transaction(rows, 40, 'a')
  expect(rows.keys.waiting).toBe(3)
  expect(taken(rows, 1)).toEqual({ keys: ['a', 'b'], isEmptied: false, position: '0/1E' })
  expect(rows.keys.waiting).toBe(1)
  expect(taken(rows, 1)).toEqual({ keys: ['a'], isEmptied: false, position: '0/28' })
  expect([rows.keys.waiting, rows.keys.hasSegments]).toEqual([0, false])
})

test('a snapshot sees what ended before it, also where numbers of 32 bits begin anew', () => {
  expect(haveTransactionsEnded('10:20:10,14', [9, 11, 19])).toBe(true)
  for (const unseen of [10, 14, 20, 21]) expect(haveTransactionsEnded('10:20:10,14', [9, unseen])).toBe(false)
  expect(haveTransactionsEnded('20:20:', [])).toBe(true)
  const era = 2n ** 32n
  expect(haveTransactionsEnded(`${era + 3n}:${era + 5n}:${era + 3n}`, [4_294_967_290, 4])).toBe(true)
  for (const unseen of [3, 5]) expect(haveTransactionsEnded(`${era + 3n}:${era + 5n}:${era + 3n}`, [unseen])).toBe(false)
  expect(haveTransactionsEnded(`${era - 6n}:${era - 2n}:`, [4_294_967_294])).toBe(false)
})

test('changes have the numbers of their transactions, also those that were merged', () => {
  const rows = rowsOf(relation('no'))
  for (let at = 0; at < 1_010; at += 1) {
    for (const one of [message('B', int64(0), int64(0), int32(at)), insert('a'), commit(10 + at)]) rows.message(one)
  }
  transaction(rows, 2_000)
  const { transactions } = rows.keys.take(10_000)
  expect(transactions).toEqual(Array.from({ length: 1_010 }, (_, at) => at))
})

test('many small transactions are merged, and a key of several of them waits once', () => {
  const rows = rowsOf(relation('no'))
  for (let at = 1; at <= 2_000; at += 1) transaction(rows, at, `${at % 50}`)
  expect(rows.keys.waiting).toBe(999 + 50)
  expect(taken(rows, 999)).toMatchObject({ position: positionText(999n) })
  expect(taken(rows, 1)).toMatchObject({ position: positionText(2_000n) })
  expect(rows.keys.waiting).toBe(0)
})

test('parts of a large transaction do not move the position before its end', () => {
  const rows = rowsOf(relation('no'), begin)
  for (let at = 0; at < 25_000; at += 1) rows.message(insert(`${at}`))
  expect(rows.keys.waiting).toBe(20_000)
  rows.alive(5n)
  expect(taken(rows, 1)).toMatchObject({ position: '0/0' })
  rows.message(commit(10))
  expect(taken(rows, 15_000)).toMatchObject({ position: '0/A' })
  expect(rows.keys.waiting).toBe(0)
})

test('a key column that has another name leads to a comparison', () => {
  const rows = rowsOf(relation('number'))
  transaction(rows, 10, 'a')
  expect(taken(rows, 1)).toEqual({ keys: [], isEmptied: true, position: '0/A' })
})

test('a table that is altered leads to a comparison, and one that is described again does not', () => {
  const rows = rowsOf(begin, relation('no'), insert('a'), commit(10))
  for (const one of [begin, relation('no'), insert('b'), commit(20)]) rows.message(one)
  expect(taken(rows, 2)).toEqual({ keys: ['a', 'b'], isEmptied: false, position: '0/14' })
  for (const one of [begin, relation('no', 1042), insert('c'), commit(30)]) rows.message(one)
  expect(taken(rows, 1)).toEqual({ keys: ['c'], isEmptied: true, position: '0/1E' })
})

test.each([
  ['was not followed', []],
  ['was followed under another name', [relation('no', TEXT, 2, 'person_new')]],
])('a table that takes the place of another one and %s leads to a comparison', (_, before) => {
  const rows = rowsOf(...before, begin, relation('no'), insert('a'), commit(10))
  expect(taken(rows, 1)).toMatchObject({ isEmptied: false })
  for (const one of [begin, relation('no', TEXT, 2), commit(20)]) rows.message(one)
  expect(taken(rows, 1)).toMatchObject({ isEmptied: true })
})

test('the spaces with which the log pads a key of type char(n) are no part of it', () => {
  const rows = rowsOf(relation('no', 1042))
  transaction(rows, 10, 'a  ')
  expect(taken(rows, 1)).toMatchObject({ keys: ['a'] })
  rows.message(relation('no'))
  transaction(rows, 20, 'b  ')
  expect(taken(rows, 1)).toMatchObject({ keys: ['b  '] })
})

test('the spaces of a key of a domain over char(n) are no part of it either, and those of another type are', () => {
  const type = (id: number, schema: string, name: string) => message('Y', int32(id), text(schema), text(name))
  const rows = rowsOf(type(20_001, '', 'bpchar'), relation('no', 20_001))
  transaction(rows, 10, 'a  ')
  expect(taken(rows, 1)).toMatchObject({ keys: ['a'] })
  for (const [id, schema, name] of [[20_002, '', 'text'] as const, [20_003, 'office', 'bpchar'] as const]) {
    rows.message(type(id, schema, name))
    rows.message(relation('no', id))
    transaction(rows, id, 'b  ')
    expect(taken(rows, 1)).toMatchObject({ keys: ['b  '] })
  }
})

test('long names of registries have different slots of at most 63 characters', () => {
  const names = ['a', 'b'].map((end) => slotName(`${'x'.repeat(60)}${end}`))
  expect(names.map((name) => name.length)).toEqual([63, 63])
  expect(names[0]).not.toBe(names[1])
  expect(slotName('civil-2')).toBe('rollcall_civil_2')
})

test('a message that ends too early loses the log, so that all records are compared', () => {
  const rows = rowsOf(relation('no'), begin)
  expect(() => rows.message(insert('abc').subarray(0, -1))).toThrow(LogLost)
})
