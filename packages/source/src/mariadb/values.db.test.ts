/** Values of MariaDB's types: each is read as its text, and a question finds every row that it should, by an index where there is one. */

import type { Predicate } from '@rollcall/core/model/predicate'
import type { RecordSource } from '@rollcall/core/model/record-source'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asking, bearer, compared, documents, kind, recordType, registry, total } from '../../test/asking.ts'
import { hasMariadb, type MariadbDatabase, mariadbDatabase } from '../../test/mariadb.ts'
import { checkSource } from '../check-source.ts'
import { liveId } from '../store/live-ids.ts'

describe.skipIf(!hasMariadb())('values of MariaDB', () => {
  let office: MariadbDatabase
  beforeAll(async () => {
    office = await mariadbDatabase()
  })
  afterAll(() => office.drop())

  const COLUMNS = { 'identifier[UIN]': 'uin' }
  let tables = 0

  /** A table of persons with a key `no` and a column `uin`, and what it holds. */
  async function persons<Result>(
    columns: string,
    rows: readonly (readonly unknown[])[],
    work: Parameters<typeof asking<Result>>[2],
    more: object = {},
    file: object = {},
  ): Promise<Result> {
    tables += 1
    const table = `t${tables}`
    await office.run(`create table ${table} (${columns})`)
    for (const row of rows) await office.run(`insert into ${table} values (${row.map(() => '?').join(', ')})`, row)
    const Person = { from: table, key: 'no', columns: COLUMNS, ...more }
    return await asking(
      { engine: 'mariadb', url: { env: 'OFFICE' }, way: 'live', statement_timeout: 60, ...file, records: { Person } },
      office.address,
      work,
    )
  }

  const KEY = 'no int primary key'
  const found = (source: RecordSource, ...predicates: readonly Predicate[]): Promise<readonly number[]> =>
    Promise.all(predicates.map((predicate) => total(source, predicate)))

  test.each([
    ['utf8mb4_general_ci'],
    ['utf8mb4_unicode_520_nopad_ci'],
    ['utf8mb4_bin'],
    ['latin1_swedish_ci'],
    ['latin1_general_cs'],
    ['utf8mb3_general_ci'],
  ])('an identifier is equal by its bytes, whatever its collation is: %s', async (collation) => {
    const rows = ['Ä1', 'A1', 'ä1', 'B1', 'B1 ', 'Ñ'].map((uin, no) => [no, uin])
    const asked = ['Ä1', 'A1', 'B1', 'Ñ', '日', '😀', '?', 'A%', "A'1", 'A\\1'].map((one) => bearer('UIN', one))
    const columns = `${KEY}, uin varchar(20) collate ${collation}, index (uin)`
    const [counts, checked] = await persons(columns, rows, async (source, engine, file) => [
      await found(source, ...asked),
      await checkSource(kind, file, engine),
    ])
    // The index of the column is used.
    expect(checked.records[0]?.slow).toEqual([])
    // Identifiers compare in capitals and without spaces around them.
    const isWide = !/_bin|_cs/.test(collation)
    expect(counts).toEqual([isWide ? 2 : 1, 1, collation.includes('nopad') ? 1 : 2, 1, 0, 0, 0, 0, 0, 0])
  })

  test('a number as text is compared as a text', async () => {
    const rows = [
      [0, 'A'],
      [1, '1'],
      [2, '01'],
      [3, '1E0'],
    ]
    const counts = await persons(`${KEY}, uin varchar(20)`, rows, (source) =>
      found(source, bearer('UIN', '0'), bearer('UIN', '1'), bearer('UIN', '01')),
    )
    expect(counts).toEqual([0, 1, 1])
  })

  test.each<[string, unknown, string, readonly string[]]>([
    ['int(6) unsigned zerofill', 12, '000012', ['12', '12A', '']],
    ['bigint unsigned', '18446744073709551615', '18446744073709551615', ['18446744073709551616', '-1']],
    ['bigint', '-9223372036854775808', '-9223372036854775808', ['9223372036854775808']],
    ['decimal(30,2)', '1234567890123456789012345678.50', '1234567890123456789012345678.50', ['1E999', '9'.repeat(390)]],
    ['decimal(20,0)', '12345678901234567890', '12345678901234567890', ['12345678901234567891']],
    ['float', 0.1, '0.1', ['1E39', '1E999']],
    ['double', 0.30000000000000004, '0.30000000000000004', ['0.3', '1E999']],
    ['bit(8)', 5, '5', ['4', 'X']],
    ['year', 1990, '1990', ['1991', '90']],
    ["enum('B','A')", 'A', 'A', ['1', '2']],
    ["set('B','A')", 'A', 'A', ['2']],
    ['varbinary(20)', 'É', 'É', ['E', 'é1']],
    ['uuid', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', '6BA7B810-9DAD-11D1-80B4-00C04FD430C8', ['6BA7B810', 'X']],
    ['text', 'T1', 'T1', ['T']],
    ['char(10)', 'C1', 'C1', ['C']],
  ])('an identifier in a column of type %s is found', async (type, value, asked, others) => {
    const [counts, [document]] = await persons(`${KEY}, uin ${type}`, [[1, value]], async (source) => [
      await found(source, bearer('UIN', asked), ...others.map((other) => bearer('UIN', other))),
      await documents(source),
    ])
    expect(document).toMatchObject({ identifier: [{ identifier_value: expect.stringMatching(new RegExp(`^${asked}$`, 'i')) }] })
    expect(counts).toEqual([1, ...others.map(() => 0)])
  })

  test('0000-00-00 is no day, and empty is not missing', async () => {
    const more = {
      columns: { ...COLUMNS, birth_date: 'born', 'name.surname': 'surname', death_date: 'died' },
      compare: { birth_date: 'date', surname: 'folded', death_date: 'date' },
    }
    await office.run(`set session sql_mode = ''`)
    const columns = `${KEY}, uin varchar(20), born date not null, surname varchar(20), died date`
    const rows = [
      [1, 'A', '0000-00-00', '', null],
      [2, 'B', '1990-05-01', null, '0000-00-00'],
      [3, 'C', '9999-12-31', ' ', '2020-01-01'],
      [4, 'D', '1990-00-00', 'x', null],
    ]
    const [all, counts] = await persons(
      columns,
      rows,
      async (source) => [
        await documents(source),
        await found(
          source,
          compared('birth_date', { from: '1990-05-01', to: '1990-05-01' }),
          compared('birth_date', { from: '9999-12-31', to: '9999-12-31' }),
          compared('birth_date', { from: '1990-01-01', to: '1990-12-31' }, 'ge'),
          compared('birth_date', { from: '0001-01-01', to: '0001-01-01' }, 'ge'),
          compared('birth_date', { from: '9999-12-31', to: '9999-12-31' }, 'le'),
        ),
      ],
      more,
    )
    const identifier = (identifier_value: string) => [{ identifier_type: 'UIN', identifier_value }]
    // A day that is none makes no record: it could be a day of death.
    expect(all).toEqual([
      { identifier: identifier('A') },
      { identifier: identifier('B'), birth_date: '1990-05-01' },
      { identifier: identifier('C'), birth_date: '9999-12-31', death_date: '2020-01-01' },
    ])
    expect(counts).toEqual([1, 1, 2, 2, 2])
  })

  test('times have the zone of the file', async () => {
    await office.run(`set session time_zone = '+00:00'`)
    const more = {
      columns: { ...COLUMNS, birth_date: 'local', death_date: 'instant', registration_date: 'instant' },
      compare: { birth_date: 'date', death_date: 'date', registration_date: 'date' },
    }
    const columns = `${KEY}, uin varchar(20), local datetime(3), instant timestamp(6)`
    const rows = [[1, 'A', '2024-06-30 23:30:00.500', '2024-06-30 23:30:00']]
    const day = (from: string) => ({ from, to: from })
    const [[document], counts] = await persons(
      columns,
      rows,
      async (source) => [
        await documents(source),
        await found(
          source,
          compared('birth_date', day('2024-06-30')),
          compared('birth_date', day('2024-07-01')),
          compared('death_date', day('2024-06-30')),
          compared('death_date', day('2024-07-01')),
          compared('registration_date', day('2024-06-30T23:30:00.000Z')),
          compared('registration_date', day('2024-06-30T23:30:00.001Z'), 'ge'),
        ),
      ],
      more,
      { time_zone: 'Africa/Nairobi' },
    )
    expect(document).toMatchObject({ birth_date: '2024-06-30 23:30:00.5+03', registration_date: '2024-07-01 02:30:00+03' })
    expect(counts).toEqual([1, 0, 0, 1, 1, 0])
  })

  test.each([
    ['America/Bogota', '9999-12-31 23:59:59', '9999-12-31T23:59:59.000Z'],
    ['Asia/Kathmandu', '0001-01-01 00:00:00', '0001-01-01T00:00:00.000Z'],
  ])('the offset of a time in %s leaves no row out: %s', async (time_zone, time, instant) => {
    const more = { columns: { ...COLUMNS, registration_date: 'local' }, compare: { registration_date: 'date' } }
    const [all, counts] = await persons(
      `${KEY}, uin varchar(20), local datetime`,
      [[1, 'A', time]],
      async (source) => [
        await documents(source),
        await found(source, compared('registration_date', { from: instant, to: instant })),
      ],
      more,
      { time_zone },
    )
    expect(all).toEqual([{ identifier: [{ identifier_type: 'UIN', identifier_value: 'A' }], registration_date: time }])
    expect(counts).toEqual([1])
  })

  test('a time of a day that is none makes no record', async () => {
    await office.run(`set session sql_mode = 'ALLOW_INVALID_DATES'`)
    const more = { columns: { ...COLUMNS, birth_date: 'born' } }
    const rows = [
      [1, 'A', '2024-02-29 10:00:00'],
      [2, 'B', '2024-02-30 10:00:00'],
    ]
    const all = await persons(`${KEY}, uin varchar(20), born datetime`, rows, documents, more)
    expect(all).toMatchObject([{ birth_date: '2024-02-29 10:00:00+00' }])
  })

  test.each<[string, readonly unknown[], object]>([
    ['char(1) collate utf8mb4_general_ci', ['Y', 'N', null], { Y: 'male', N: 'female' }],
    ['char(1)', ['J', 'n', null], { J: 'male', n: 'female' }],
    ['tinyint(1)', [1, 0, null], { 1: 'male', 0: 'female' }],
    ['boolean', [true, false, null], { 1: 'male', 0: 'female' }],
    ['bit(1)', [1, 0, null], { 1: 'male', 0: 'female' }],
    ['varchar(3)', ['1', '0', null], { 1: 'male', 0: 'female' }],
  ])('a code in a column of type %s', async (type, values, codes) => {
    const more = { columns: { ...COLUMNS, sex: { column: 'is_male', codes } }, compare: { sex: 'code' } }
    const rows = values.map((value, no) => [no, `U${no}`, value])
    const counts = await persons(
      `${KEY}, uin varchar(20), is_male ${type}`,
      rows,
      (source) => found(source, compared('sex', 'male'), compared('sex', 'female')),
      more,
    )
    expect(counts).toEqual([1, 1])
  })

  test.each([['varchar(600) collate utf8mb4_general_ci'], ['varchar(600) collate utf8mb4_bin'], ['text character set latin1']])(
    'names in a column of type %s are found without case and accents beside another condition',
    async (type) => {
      const names = ['Okoro', 'OKORO ', 'Ökoro', 'Okorova', 'o`brien', "O'Brien", 'a  b', 'a\nb', 'ab', 'x'.repeat(520), 'Straße']
      const more = { columns: { ...COLUMNS, 'name.surname': 'family' }, compare: { surname: 'folded' } }
      const all = bearer('UIN', ...names.map((_, no) => `U${no}`))
      const rows = names.map((name, no) => [no, `U${no}`, name])
      const asked = ['okoro', "o'brien", 'a b', 'ab', 'x'.repeat(512), 'strasse'].map((one) => compared('surname', one))
      const counts = await persons(
        `${KEY}, uin varchar(20), family ${type}`,
        rows,
        (source) =>
          found(
            source,
            ...[...asked, compared('surname', 'okor', 'starts_with')].map((one): Predicate => ({ is: 'and', of: [all, one] })),
          ),
        more,
      )
      expect(counts).toEqual([3, 2, 2, 1, 1, 1, 4])
    },
  )

  test('digits are found among other characters, and the beginning of a text by its own characters', async () => {
    const more = { columns: { ...COLUMNS, phone_number: 'mobile' }, compare: { MOBILE: 'digits' } }
    const rows = [
      [1, 'A_1', '+1 555-0100'],
      [2, 'AB1', '15550100'],
      [3, 'A%1', '0155'],
    ]
    const counts = await persons(
      `${KEY}, uin varchar(20), mobile varchar(30)`,
      rows,
      (source) => found(source, bearer('MOBILE', '15550100'), bearer('MOBILE', '0155'), bearer('MOBILE', '55')),
      more,
    )
    expect(counts).toEqual([2, 1, 0])
  })

  test.each([
    ['varchar(20)', 'utf8mb4_general_ci'],
    ['varchar(20)', 'utf8mb4_unicode_nopad_ci'],
    ['varchar(20)', 'latin1_swedish_ci'],
    ['char(20)', 'utf8mb4_bin'],
  ])('spaces around codes and dates of a %s with %s have no meaning', async (type, collation) => {
    const spaces = ['', ' ', '\t', '\u00a0', '\r\n', ...(collation.startsWith('latin1') ? [] : ['\u3000', '\ufeff'])]
    const more = {
      columns: {
        ...COLUMNS,
        sex: { column: 'gender', codes: { 1: 'male', 2: 'female' } },
        birth_date: { column: 'born', format: 'dd/MM/yyyy' },
      },
      compare: { sex: 'code', birth_date: 'date' },
    }
    const rows = spaces.map((space, no) => [no, `S${no}`, `${space}1${space}`, `${space}12/06/1985${space}`])
    const counts = await persons(
      `${KEY}, uin varchar(20), gender ${type} collate ${collation}, born ${type} collate ${collation}, index (born)`,
      rows,
      (source) =>
        found(
          source,
          compared('sex', 'male'),
          compared('sex', 'female'),
          compared('birth_date', { from: '1985-06-12', to: '1985-06-12' }),
          compared('birth_date', { from: '1985-06-13', to: '1985-06-13' }),
        ),
      more,
    )
    expect(counts).toEqual([spaces.length, 0, spaces.length, 0])
  })

  test.each([
    ['varchar(64)', ['a', 'b', 'Z']],
    ['varchar(64) collate utf8mb4_bin', ['a', 'A', 'b ']],
    ['bigint unsigned', ['1', '2', '18446744073709551615']],
    ['uuid', ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', '00000000-0000-4000-8000-000000000001']],
  ])('a key may have the type %s', async (type, keys) => {
    const rows = keys.map((key, at) => [key, `U${at}`])
    const seen = await persons(`no ${type} primary key, uin varchar(20)`, rows, async (source) => {
      const reader = source.reader('sync')
      const ids: string[] = []
      for (let after: string | null = null; ; ) {
        const asked = { recordType, predicate: null, since: null, after, limit: 1 }
        const [one] = await reader.page(registry, asked)
        if (one === undefined) break
        ids.push(one.id)
        after = one.id
      }
      const read = await reader.read(registry, recordType, [...ids, ...['no such key', "' or 1=1", '0'].map(liveId)])
      return { ids, read: read.map(({ id }) => id) }
    })
    expect(seen.ids.toSorted()).toEqual(keys.map(liveId).toSorted())
    expect(seen.read).toEqual(seen.ids)
  })
})
