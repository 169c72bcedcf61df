import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDatabase } from '../../../keys/test/postgres.ts'
import { kind, recordType } from '../../test/asking.ts'
import { hasMariadb, type MariadbDatabase, mariadbDatabase } from '../../test/mariadb.ts'
import { mariadbOffice } from '../../test/mariadb-office.ts'
import { copiedPeople, mirroredRegistry, polledSource } from '../../test/mirrored-office.ts'
import type { SourceSnapshot } from '../engine/engine.ts'
import type { MappedTable } from '../engine/mapped-records.ts'
import { openEngine } from '../engines.ts'
import { startFollowers } from '../mirror/followers.ts'
import { readSourceFile } from '../source-file.ts'

describe.skipIf(!hasMariadb())('changed rows of MariaDB', () => {
  let office: MariadbDatabase
  beforeAll(async () => {
    office = await mariadbDatabase()
  })
  afterAll(() => office.drop())

  async function changing<Result>(
    table: string,
    time_zone: string,
    work: (state: SourceSnapshot, part: MappedTable) => Promise<Result>,
  ): Promise<Result> {
    const Person = { from: table, key: 'no', changed: 'changed', columns: { 'identifier[UIN]': 'uin' } }
    const given = { engine: 'mariadb', url: { env: 'OFFICE' }, way: 'mirror', follow: 'poll', time_zone, records: { Person } }
    const file = readSourceFile({ ...given, statement_timeout: 60 }, kind)
    const part = file.records.get(recordType.name)?.own
    if (part === undefined) throw new Error('the file has persons')
    const engine = openEngine(file, { OFFICE: office.address })
    try {
      const state = await engine.begin()
      return await work(state, part).finally(state.end)
    } finally {
      await engine.close()
    }
  }

  const keys = (rows: readonly { readonly key: string }[]): readonly string[] => rows.map(({ key }) => key)

  test.each([
    ['timestamp(6)', 'utc_timestamp(6)', 'Africa/Nairobi'],
    ['datetime(6)', 'utc_timestamp(6) + interval 3 hour', 'Africa/Nairobi'],
    ['datetime', 'utc_timestamp() - interval 3 hour', 'America/Sao_Paulo'],
  ])('are found by a column of type %s', async (type, now, zone) => {
    const table = `times_${zone.length}_${type.replaceAll(/\W/g, '')}`
    await office.run(`set session time_zone = '+00:00'`)
    await office.run(`create table ${table} (no int primary key, uin varchar(9), changed ${type} not null)`)
    await office.run(`insert into ${table} values (1, 'A', ${now} - interval 1 day), (2, 'B', ${now}), (3, 'C', ${now})`)
    const seen = await changing(table, zone, async (state, part) => {
      const since = await state.mark(part)
      const asked = { since, overlap: 3_600, limit: 1 }
      const [first] = await state.changes(part, { ...asked, after: null })
      const others = await state.changes(part, { ...asked, after: first ?? null, limit: 9 })
      const distance = Math.abs(Number(since) - Date.now() / 1_000)
      return { first: first?.key, others: keys(others), isNow: distance < 86_400 }
    })
    expect(seen).toEqual({ first: '2', others: ['3'], isNow: true })
  })

  test('are found by a version', async () => {
    await office.run('create table versions (no varchar(9) primary key, uin varchar(9), changed bigint unsigned not null)')
    await office.run(`insert into versions values ('a', 'A', 1), ('b', 'B', 90), ('c', 'C', 90), ('d', 'D', 100)`)
    const seen = await changing('versions', 'UTC', async (state, part) => {
      const since = await state.mark(part)
      const rows = await state.changes(part, { since, overlap: 10, after: null, limit: 2 })
      const others = await state.changes(part, { since, overlap: 10, after: rows.at(-1) ?? null, limit: 2 })
      const all = await state.changes(part, { since, overlap: 1_000, after: null, limit: 9 })
      return [since, rows, keys(others), keys(all)]
    })
    expect(seen).toEqual([
      '100',
      [
        { key: 'b', mark: '90' },
        { key: 'c', mark: '90' },
      ],
      ['d'],
      ['a', 'b', 'c', 'd'],
    ])
  })

  test('reach a copy of the records', async () => {
    const database = await testDatabase()
    const copied = await mariadbOffice([
      { person_no: 1, national_no: 'A1', family_name: 'Okoro', birth: { no: 'B1', place: 'Moshi' } },
      { person_no: 2, national_no: 'A2', family_name: 'Obi' },
    ])
    for (const table of ['person', 'birth', 'marriage', 'death']) {
      const now = 'current_timestamp(6)'
      await copied.run(
        `alter table ${table} add changed_at timestamp(6) not null default ${now} on update ${now}, add index (changed_at)`,
      )
    }
    const polled = polledSource({ env: 'OFFICE' }) as { records: object }
    const records = JSON.parse(JSON.stringify(polled.records).replaceAll('office.', ''))
    await mirroredRegistry(database.db, { ...polled, engine: 'mariadb', records })
    const followers = startFollowers({
      db: database.db,
      env: { OFFICE: copied.address },
      limits: { ...DEFAULT_LIMITS, node_lease: 2 },
      log: { warn: () => undefined, info: () => undefined },
      registries: async () => [await requireRegistry(database.db, 'civil')],
    })
    const people = () => copiedPeople(database.db).catch(() => ({}))
    try {
      await expect.poll(people, { timeout: 30_000 }).toMatchObject({ A1: { birth_place: { name: 'Moshi' } }, A2: {} })
      await copied.run(`insert into person (person_no, national_no, family_name) values (3, 'A3', 'Eze')`)
      await copied.run(`update birth set place = 'Arusha'`)
      await copied.run(`update person set removed_at = now() where person_no = 2`)
      const now = { A1: { birth_place: { name: 'Arusha' } }, A3: { name: { surname: 'Eze' } } }
      await expect.poll(people, { timeout: 30_000 }).toMatchObject(now)
      await expect.poll(async () => Object.keys(await people()).toSorted(), { timeout: 30_000 }).toEqual(['A1', 'A3'])
    } finally {
      await followers.stop()
      await copied.drop()
      await database.close()
    }
  })

  test('of a child reach its record where the child writes the key in small letters', async () => {
    const database = await testDatabase()
    const changed = 'changed timestamp(6) not null default current_timestamp(6) on update current_timestamp(6)'
    await office.run(`create table folders (no varchar(9) primary key, uin varchar(9), ${changed})`)
    await office.run(`create table births (id int primary key, no varchar(9), brn varchar(9), ${changed})`)
    await office.run(`insert into folders (no, uin) values ('K1', 'A1')`)
    const child = { from: 'births', on: 'no', changed: 'changed', columns: { 'identifier[BRN]': 'brn' } }
    const columns = { 'identifier[UIN]': 'uin' }
    const Person = { from: 'folders', key: 'no', changed: 'changed', columns, children: [child] }
    const polled = polledSource({ env: 'OFFICE' })
    await mirroredRegistry(database.db, { ...polled, engine: 'mariadb', records: { Person } })
    const followers = startFollowers({
      db: database.db,
      env: { OFFICE: office.address },
      limits: { ...DEFAULT_LIMITS, node_lease: 2 },
      log: { warn: () => undefined, info: () => undefined },
      registries: async () => [await requireRegistry(database.db, 'civil')],
    })
    const numbers = async () => {
      const { A1: one } = await copiedPeople(database.db).catch(() => ({}) as Awaited<ReturnType<typeof copiedPeople>>)
      return (one?.identifier as { identifier_value: string }[] | undefined)?.map((known) => known.identifier_value)
    }
    try {
      await expect.poll(numbers, { timeout: 30_000 }).toEqual(['A1'])
      await office.run(`insert into births (id, no, brn) values (1, 'k1', 'B1')`)
      await expect.poll(numbers, { timeout: 30_000 }).toEqual(['A1', 'B1'])
    } finally {
      await followers.stop()
      await database.close()
    }
  })

  test.each(['varchar(9)', 'date'])('are not found by a column of type %s', async (type) => {
    const table = `others_${type.slice(0, 4)}`
    await office.run(`create table ${table} (no int primary key, uin varchar(9), changed ${type})`)
    await expect(changing(table, 'UTC', (state, part) => state.mark(part))).rejects.toThrow(
      'changed: changed must be a column of times or of whole numbers',
    )
  })
})
