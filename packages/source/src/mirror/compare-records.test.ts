import { expect, test } from 'vitest'
import { kind } from '../../test/asking.ts'
import type { RowSelection } from '../engine/engine.ts'
import { readSourceFile } from '../source-file.ts'
import { compareNextPortion, createPortionReader, createReadAheadReader } from './compare-records.ts'

const file = readSourceFile(
  {
    engine: 'postgresql',
    url: { env: 'OFFICE' },
    way: 'live',
    records: { Person: { from: 'office.person', key: 'no', columns: { 'identifier[UIN]': 'uin' } } },
  },
  kind,
)
const records = file.records.get('Person') ?? expect.fail()

test('the next portion is read ahead while there is one and it is wanted', async () => {
  const asked: (string | null)[] = []
  const rows = async (_: unknown, { after, limit }: RowSelection) => {
    asked.push(after)
    const first = Number(after ?? 0) + 1
    const length = first > 3_000 ? 1 : limit
    return Array.from({ length }, (_, at) => ({ key: String(first + at), cells: [`U${first + at}`], children: [] }))
  }
  const engine = { begin: async () => ({ rows, end: async () => undefined }) }
  const read = createReadAheadReader({ engine, file, registry: { kind } } as never, 3)
  let after: string | null = null
  for (const already of [2, 3, 3]) {
    const portion = await read(records, after)
    expect([portion.rows.length, portion.rows[0]?.read.record?.primary_identifier]).toEqual([1_000, `U${Number(after ?? 0) + 1}`])
    await expect.poll(() => asked.length).toBe(already)
    after = portion.next
  }
  expect(asked).toEqual([null, '1000', '2000'])
  expect(await read(records, '3000')).toMatchObject({ rows: [{ key: '3001' }], next: null })
  expect(asked).toHaveLength(4)
})

test('a comparison goes on after a portion that ends with empty keys', async () => {
  const rows = async (_: unknown, { after }: RowSelection) =>
    Array.from({ length: after === null ? 1_000 : 1 }, () => ({ key: after ?? '', cells: ['U1'], children: [] }))
  const engine = { begin: async () => ({ rows, end: async () => undefined }) }
  const read = createPortionReader({ engine, file, registry: { kind } } as never)
  expect(await read(records, null)).toEqual({ rows: [], next: '' })
  expect(await read(records, '')).toEqual({ rows: [], next: null })
})

test('rows that a comparison has not found are looked for by record type and without a time limit', async () => {
  const statements: string[] = []
  const query = async (asked: string | { readonly text: string }) => {
    const text = typeof asked === 'string' ? asked : asked.text
    statements.push(text)
    return { rows: text.includes('returning') ? [{ wanted: false }] : [] }
  }
  const pool = { query, connect: async () => ({ query, release: () => undefined }) }
  const deps = { db: { pool }, registry: { id: 1, kind }, claim: { registry: 1, claim: 'c' }, file }
  const read = () => expect.fail('all rows were read')
  const comparison = { run: 7, recordType: '', after: null, began: 0 }
  expect(await compareNextPortion(deps as never, comparison, { read, isEvent: false, isFirst: true })).toBeNull()
  const found = statements.flatMap((text, at) => (text.includes('from source_row') ? [at] : []))
  expect(found).toHaveLength(kind.record_types.length)
  for (const at of found) expect(statements[at - 1]).toContain("set_config('statement_timeout', '0', true)")
})
