/** Values of PostgreSQL's types: a question finds every row that it should, and the answer is no wider. */

import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { asking, bearer, compared, recordType, registry, total } from '../../test/asking.ts'
import { addressOf } from '../../test/office.ts'

let office: Awaited<ReturnType<typeof emptyDatabase>>
let admin: pg.Client

beforeAll(async () => {
  office = await emptyDatabase()
  admin = new pg.Client(office.connection)
  await admin.connect()
})
afterAll(async () => {
  await admin.end()
  await office.drop()
})

let tables = 0

/** Makes a table of persons with a further column, which has these values, and asks its source. */
async function persons<Result>(
  type: string,
  values: readonly unknown[],
  more: object,
  work: Parameters<typeof asking<Result>>[2],
): Promise<Result> {
  tables += 1
  const table = `t${tables}`
  await admin.query(`create table ${table} (no int primary key, uin text, value ${type})`)
  for (const [no, value] of values.entries()) {
    await admin.query(`insert into ${table} values ($1, $2, $3)`, [no, `U${no}`, value])
  }
  const Person = { from: `public.${table}`, key: 'no', ...more }
  const file = { engine: 'postgresql', url: { env: 'OFFICE' }, way: 'live', statement_timeout: 60 }
  return await asking({ ...file, records: { Person } }, addressOf(office.connection), work)
}

const UIN = { 'identifier[UIN]': 'uin' }

test.each<[string, readonly unknown[], object]>([
  ['char(1)', ['Y', 'N', null], { Y: 'male', N: 'female' }],
  ['varchar(3)', ['J', ' n', null], { J: 'male', n: 'female' }],
  ['text', ['1', '0', null], { 1: 'male', 0: 'female' }],
  ['smallint', [1, 0, null], { 1: 'male', 0: 'female' }],
  ['boolean', [true, false, null], { true: 'male', false: 'female' }],
])('a code in a column of type %s', async (type, values, codes) => {
  const more = { columns: { ...UIN, sex: { column: 'value', codes } }, compare: { sex: 'code' } }
  const counts = await persons(type, values, more, (source) =>
    Promise.all([compared('sex', 'male'), compared('sex', 'female')].map((one) => total(source, one))),
  )
  expect(counts).toEqual([1, 1])
})

test('a letter that the codes do not list leaves its row out, and a code that no letter has finds nobody', async () => {
  const more = { columns: { ...UIN, sex: { column: 'value', codes: { J: 'male' } } }, compare: { sex: 'code' } }
  const counts = await persons('char(1)', ['J', 'Y'], more, (source) =>
    Promise.all([bearer('UIN', 'U0', 'U1'), compared('sex', 'female')].map((one) => total(source, one))),
  )
  expect(counts).toEqual([1, 0])
})

test.each([['text'], ['varchar(600) collate "C"'], ['char(600)']])(
  'names in a column of type %s are found without case and accents beside another condition',
  async (type) => {
    const long = 'x'.repeat(520)
    const names = ['Okoro', 'OKORO ', 'Ökoro', 'Okorova', 'o`brien', "O'Brien", 'a  b', 'a\nb', 'ıx', long, 'Straße']
    const more = { columns: { ...UIN, 'name.surname': 'value' }, compare: { surname: 'folded' } }
    const all = bearer('UIN', ...names.map((_, no) => `U${no}`))
    const asked = ['okoro', "o'brien", 'a b', 'ix', 'x'.repeat(512), 'strasse']
    const found = await persons(type, names, more, async (source) => ({
      counts: await Promise.all(asked.map((name) => total(source, { is: 'and', of: [all, compared('surname', name)] }))),
      beginning: await total(source, { is: 'and', of: [all, compared('surname', 'okor', 'starts_with')] }),
      refusal: await source.refusal?.(registry, { recordType, predicate: compared('surname', 'okoro') }),
    }))
    expect(found).toEqual({
      counts: [3, 2, 2, 1, 1, 1],
      beginning: 4,
      refusal:
        'surname compares without case and accents, which its database cannot do, and needs a further condition that must hold, on UIN',
    })
  },
)

test.each(['timestamptz(0)', 'timestamp(0)'])(
  'a change within the second of the last look is found by a column of type %s, even without an overlap',
  async (type) => {
    const more = { columns: UIN }
    const found = await persons(type, ['2026-11-28 10:00:00Z', '2026-11-28 09:59:59Z'], more, async (_, engine, file) => {
      const { own } = file.records.get('Person') ?? expect.fail()
      const since = String(Date.parse('2026-11-28T10:00:00.900Z') / 1_000)
      const state = await engine.begin()
      const part = { ...own, changed: 'value' }
      return state.changes(part, { since, overlap: 0, after: null, limit: 9 }).finally(state.end)
    })
    expect(found.map(({ key }) => key)).toEqual(['0'])
  },
)
