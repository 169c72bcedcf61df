import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { type Statement, TransactionNotBegun } from '../engine/connections.ts'
import { AnswerTimeLimit } from '../engine/time-limit.ts'
import { OutdatedStatement, sendStatementsTogether } from './one-piece.ts'

let database: Awaited<ReturnType<typeof emptyDatabase>>
let client: pg.Client

beforeAll(async () => {
  database = await emptyDatabase()
  client = new pg.Client(database.connection)
  await client.connect()
  await client.query('create table note (id int)')
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

const plain = (text: string): Statement => ({ text, values: [] })
const limit = new AnswerTimeLimit(60_000, () => new Error('late'))
const send = (asked: Statement, before: readonly Statement[] = []) => sendStatementsTogether(client, before, asked, limit)
const prepared = async (): Promise<number> => (await client.query('select from pg_prepared_statements')).rowCount ?? 0

test('after a statement that fails none of the others runs, whatever they would do', async () => {
  const asked = plain('insert into note values (1) returning id')
  const failed = await send(asked, [plain('begin read only'), plain('select 1 / 0')]).catch((error) => error)
  expect(failed).toBeInstanceOf(TransactionNotBegun)
  expect(failed).toMatchObject({ cause: { code: '22012' } })
  await client.query('rollback')
  await expect(send(asked, [plain('begin read only')])).rejects.toMatchObject({ code: '25006' })
  await client.query('rollback')
  expect((await client.query('select from note')).rowCount).toBe(0)
  expect(await prepared()).toBe(1)
  expect((await send(asked, [plain('begin')])).rows).toEqual([['1']])
  await client.query('rollback')
})

test('a piece without BEGIN is a transaction, which only reads if its first statement says so', async () => {
  const setting = (value: string): Statement => plain(`select set_config('transaction_read_only', '${value}', true)`)
  const asked = plain('insert into note values (1) returning id')
  await expect(send(asked, [setting('on')])).rejects.toMatchObject({ code: '25006' })
  await expect(send(asked, [setting('on'), setting('off')])).rejects.toMatchObject({ cause: { code: '25001' } })
  const mode = plain(`select current_setting('transaction_read_only'), txid_current_if_assigned()`)
  expect((await send(mode, [setting('on')])).rows).toEqual([['on', null]])
  // The setting ends with its piece.
  expect((await send(mode)).rows).toEqual([['off', null]])
  expect((await client.query('select from note')).rowCount).toBe(0)
})

test('only the rows of the statement that is asked for are read, as texts, the second time without asking for their columns', async () => {
  const asked = { text: 'select $1::text[] as texts, null as none, $2::int4 as number', values: [['a"b', 'c\\d', ',{}'], 7] }
  for (let time = 0; time < 2; time += 1) {
    expect(await send(asked, [{ text: 'select $1::text', values: ['before'] }, plain('select 2')])).toEqual({
      rows: [['{"a\\"b","c\\\\d",",{}"}', null, '7']],
      types: [1009, 25, 23],
      names: ['texts', 'none', 'number'],
    })
  }
})

test('a text with several statements is refused', async () => {
  await expect(send(plain('select 1; insert into note values (2)'))).rejects.toMatchObject({ code: '42601' })
})

test('a connection keeps some statements, and closes others', async () => {
  for (let shape = 0; shape < 120; shape += 1) await send(plain(`select ${shape}`), [plain('select 1')])
  expect(await prepared()).toBeLessThanOrEqual(51)
  expect((await send(plain('select 0'))).rows).toEqual([['0']])
})

test('a statement whose columns have changed is prepared anew', async () => {
  const asked = plain('select * from note')
  expect((await send(asked)).names).toEqual(['id'])
  await client.query('alter table note add column text text')
  await expect(send(asked)).rejects.toThrow(OutdatedStatement)
  expect((await send(asked)).names).toEqual(['id', 'text'])
})
