/** Copies of a civil office's people that follow its database. */

import { Readable } from 'node:stream'
import { SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { RecordsUnavailable } from '@rollcall/core/model/record-source'
import { withTransaction } from '@rollcall/database/transaction'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { importFile } from '@rollcall/import/import-file'
import { protectPerson } from '@rollcall/records/records/protect-person'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { requireRegistry } from '@rollcall/records/registries/registries'
import type pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { emptyDatabase, type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { copiedPeople, makeMirroredOffice, mirroredRegistry, polledSource } from '../../test/mirrored-office.ts'
import { addressOf, officeReader } from '../../test/office.ts'
import { changeSource } from '../change-source.ts'
import { findMirror, requestComparison } from '../store/mirrors.ts'
import { rejectedRows } from '../store/source-rows.ts'
import { type RunningFollowers, startFollowers } from './followers.ts'

const LIMITS = { ...DEFAULT_LIMITS, node_lease: 2 }
const PEOPLE = [
  { person_no: 1, national_no: 'A1', family_name: 'Okoro', given_name: 'Ada', gender: 2, born: '1985-06-12' },
  { person_no: 2, national_no: 'A2', family_name: 'Obi', gender: 1, birth: { no: 'B2', place: 'Lagos' } },
]

let database: TestDatabase
let empty: Awaited<ReturnType<typeof emptyDatabase>>
let office: pg.Client
let env: Record<string, string>
let log: string[]
let running: RunningFollowers[]
beforeEach(async () => {
  database = await testDatabase()
  empty = await emptyDatabase()
  office = await makeMirroredOffice(empty.connection, PEOPLE)
  env = { READER: await officeReader(empty.connection), OWNER: addressOf(empty.connection) }
  log = []
  running = []
})
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()))
  await office.end()
  await database.close()
  await empty.drop()
})

function follow(db = database.db, clock = SYSTEM_CLOCK): RunningFollowers {
  const note = (facts: { readonly reason?: string }, message: string): void =>
    void log.push([message, facts.reason ?? []].flat().join(': '))
  const registries = async () => [await requireRegistry(database.db, 'civil')]
  const followers = startFollowers({ db, env, limits: LIMITS, log: { warn: note, info: note }, registries, clock })
  running.push(followers)
  return followers
}

const waiting = { timeout: 20_000 }
const uins = async () => Object.keys(await copiedPeople(database.db).catch(() => ({}))).toSorted()
const mirror = async () => findMirror(database.db, (await requireRegistry(database.db, 'civil')).id)
const rejects = async () =>
  rejectedRows(database.db, (await requireRegistry(database.db, 'civil')).id, { after: null, limit: 10 })
const events = async (): Promise<number> => Number((await database.db.pool.query('select count(*) from event')).rows[0].count)

test('a registry answers when all its records were read once, and then its changes are found', async () => {
  await mirroredRegistry(database.db, polledSource({ env: 'READER' }))
  await expect(copiedPeople(database.db)).rejects.toBeInstanceOf(RecordsUnavailable)
  follow()
  await expect.poll(uins, waiting).toEqual(['A1', 'A2'])
  expect(await copiedPeople(database.db)).toMatchObject({
    A1: { name: { surname: 'Okoro', given_name: 'Ada' }, sex: 'female', birth_date: '1985-06-12' },
    A2: { birth_place: { name: 'Lagos' } },
  })
  expect(await events()).toBe(0)
  const counted = await database.db.pool.query(`select reltuples from pg_class where oid = 'source_row'::regclass`)
  expect(counted.rows).toEqual([{ reltuples: 2 }])
  await office.query(`insert into office.person values (3, 'A3', 'Eze');
    insert into office.death values ('D1', 1, '2026-11-01');
    delete from office.birth where birth_no = 'B2'`)
  await expect.poll(uins, waiting).toEqual(['A1', 'A2', 'A3'])
  const people = () => copiedPeople(database.db)
  await expect.poll(people, waiting).toMatchObject({ A1: { death_date: '2026-11-01' } })
  await expect.poll(async () => 'birth_place' in ((await people()).A2 ?? {}), waiting).toBe(false)
  expect(await events()).toBeGreaterThan(0)
  await office.query(`update office.person set removed_at = now() where person_no = 3;
    update office.person set national_no = 'A9' where person_no = 2`)
  await expect.poll(uins, waiting).toEqual(['A1', 'A9'])
  expect(await mirror()).toMatchObject({ failure: null, behind: 0, rejects: 0, followed: true })
})

test('without events nobody is notified; rows that are deleted go with the comparison', async () => {
  await mirroredRegistry(database.db, polledSource({ env: 'READER' }, { events: 'none' }))
  follow()
  await expect.poll(uins, waiting).toEqual(['A1', 'A2'])
  await office.query(`delete from office.birth; delete from office.person where person_no = 2;
    insert into office.person values (3, 'A3', 'Eze')`)
  await expect.poll(uins, waiting).toEqual(['A1', 'A2', 'A3'])
  await requestComparison(database.db, (await requireRegistry(database.db, 'civil')).id)
  await expect.poll(uins, waiting).toEqual(['A1', 'A3'])
  expect(await events()).toBe(0)
  // Only the first load makes statistics: later comparisons find those that PostgreSQL has made.
  const counted = await database.db.pool.query(`select reltuples from pg_class where oid = 'source_row'::regclass`)
  expect(counted.rows).toEqual([{ reltuples: 2 }])
})

test('a row that cannot be read keeps its record as it was, is listed, and is read when it is mended', async () => {
  await mirroredRegistry(database.db, polledSource({ env: 'READER' }))
  follow()
  await expect.poll(uins, waiting).toEqual(['A1', 'A2'])
  await office.query(`update office.person set gender = 7, family_name = 'Eze' where person_no = 1`)
  await expect.poll(rejects, waiting).toEqual([{ record_type: 'Person', key: '1', reason: expect.stringMatching(/^sex/) }])
  expect(await copiedPeople(database.db)).toMatchObject({ A1: { name: { surname: 'Okoro' }, sex: 'female' } })
  await office.query('update office.person set gender = 1 where person_no = 1')
  await expect.poll(rejects, waiting).toEqual([])
  expect(await copiedPeople(database.db)).toMatchObject({ A1: { name: { surname: 'Eze' }, sex: 'male' } })
})

test('two rows that change their identifiers in one transaction change their records; of two that have one, one is listed', async () => {
  await office.query('alter table office.person drop constraint person_national_no_key')
  await mirroredRegistry(database.db, polledSource({ env: 'READER' }))
  follow()
  await expect.poll(uins, waiting).toEqual(['A1', 'A2'])
  await office.query(`update office.person set national_no = case national_no when 'A1' then 'A2' else 'A1' end`)
  const names = async () =>
    Object.entries(await copiedPeople(database.db)).map(([uin, one]) => [uin, (one.name as { surname: string }).surname])
  await expect
    .poll(async () => (await names()).toSorted(), waiting)
    .toEqual([
      ['A1', 'Obi'],
      ['A2', 'Okoro'],
    ])
  await office.query(`update office.person set national_no = 'A1' where person_no = 1`)
  await expect.poll(rejects, waiting).toEqual([{ record_type: 'Person', key: '1', reason: 'another row has the same UIN' }])
  expect(await names()).toEqual([['A1', 'Obi']])
  await office.query(`update office.person set removed_at = now() where person_no = 2`)
  await expect.poll(names, waiting).toEqual([['A1', 'Okoro']])
  expect(await rejects()).toEqual([])
})

test('a protected person whose row gets another primary identifier stays protected', async () => {
  const { id } = await mirroredRegistry(database.db, polledSource({ env: 'READER' }))
  follow()
  await expect.poll(uins, waiting).toEqual(['A1', 'A2'])
  const registry = await requireRegistry(database.db, 'civil')
  const reader = recordsOf(database.db, registry).within(database.db.pool)
  const [recordType = expect.fail()] = registry.kind.record_types
  await withTransaction(database.db.pool, async (client) => {
    await lockRegistryFor(client, id, 'exclusive change')
    const identifier = { type: 'UIN', value: 'A2' }
    await protectPerson(client, registry, { identifier, category: 'shelter', reason: 'Order 7', bearer: null })
  })
  const categories = async (uin: string) => {
    const { rows } = await database.db.pool.query(`select id::text from r${id}_person where primary_identifier = $1`, [uin])
    return [...(await reader.categories(registry, recordType, [rows[0]?.id ?? '0'])).values()]
  }
  await office.query(`update office.person set national_no = 'A9' where person_no = 2;
    insert into office.person (person_no, national_no, family_name, gender) values (3, 'A3', 'Obi', 1)`)
  await expect.poll(uins, waiting).toEqual(['A1', 'A3', 'A9'])
  expect([await categories('A9'), await categories('A3')]).toEqual([[['shelter']], []])
  // The record of another row is there already as the row of the person now has it.
  await office.query(`delete from office.birth; delete from office.person where person_no = 3;
    update office.person set national_no = 'A3' where person_no = 2`)
  await expect.poll(uins, waiting).toEqual(['A1', 'A3'])
  expect(await categories('A3')).toEqual([['shelter']])
})

test('a column that is dropped stops the copy with the reason, and it goes on after the mend', async () => {
  await mirroredRegistry(database.db, polledSource({ env: 'READER' }))
  follow()
  await expect.poll(uins, waiting).toEqual(['A1', 'A2'])
  await office.query('alter table office.person rename column mobile to phone')
  await office.query(`insert into office.person values (3, 'A3', 'Eze')`)
  await expect
    .poll(async () => (await mirror())?.failure, waiting)
    .toBe('the database cannot be read as the file says: column own.mobile does not exist (42703)')
  expect(await uins()).toEqual(['A1', 'A2'])
  expect(log).toContain('a source cannot be followed now')
  await office.query('alter table office.person rename column phone to mobile')
  await expect.poll(uins, waiting).toEqual(['A1', 'A2', 'A3'])
  expect(await mirror()).toMatchObject({ failure: null, failed_at: null })
})

test('a comparison that is wanted while another one is under way is made after it', async () => {
  const { id } = await mirroredRegistry(database.db, polledSource({ env: 'READER' }))
  const first = follow()
  await expect.poll(uins, waiting).toEqual(['A1', 'A2'])
  await first.stop()
  // The comparison has passed the row of person 1.
  const { pool } = database.db
  await pool.query(`update source_mirror set comparison =
    '{"run": 7, "recordType": "Person", "after": "2", "began": ${Math.floor(SYSTEM_CLOCK.date() / 1_000)}, "isRepair": false}'`)
  await pool.query('update source_row set seen = 7')
  await office.query('delete from office.person where person_no = 1')
  await requestComparison(database.db, id)
  follow()
  await expect.poll(uins, waiting).toEqual(['A2'])
})

test('a clock of our database that was ahead hides no deletion', async () => {
  const { id } = await mirroredRegistry(database.db, polledSource({ env: 'READER' }))
  follow()
  await expect.poll(uins, waiting).toEqual(['A1', 'A2'])
  const { pool } = database.db
  await pool.query('update source_row set seen = seen + 365 * 86400000::bigint')
  await office.query('delete from office.person where person_no = 1')
  await requestComparison(database.db, id)
  await expect.poll(uins, waiting).toEqual(['A2'])
  await expect.poll(async () => (await mirror())?.comparison, waiting).toBeNull()
})

test('while the clock of our database is behind, the comparison of the day is not made again and again', async () => {
  const [node, between] = [3_600_000, 1_800_000].map((ahead) => SYSTEM_CLOCK.date() + ahead)
  const compare = new Date(between ?? 0).toISOString().slice(11, 16)
  await mirroredRegistry(database.db, polledSource({ env: 'READER' }, { time_zone: 'UTC', compare }))
  follow(database.db, { ...SYSTEM_CLOCK, date: () => node ?? 0 })
  await expect.poll(uins, waiting).toEqual(['A1', 'A2'])
  const { compared_at } = (await mirror()) ?? expect.fail()
  await office.query(`insert into office.person values (3, 'A3', 'Eze')`)
  await expect.poll(uins, waiting).toEqual(['A1', 'A2', 'A3'])
  await office.query(`insert into office.person values (4, 'A4', 'Eze')`)
  await expect.poll(uins, waiting).toEqual(['A1', 'A2', 'A3', 'A4'])
  expect(await mirror()).toMatchObject({ compared_at, comparison: null })
})

test.each([-3_600_000, 3_600_000])(
  'a clock of the node that is %d ms ahead of our database does not count as lag, nor hide any',
  async (ahead) => {
    await mirroredRegistry(database.db, polledSource({ env: 'READER' }))
    follow(database.db, { ...SYSTEM_CLOCK, date: () => SYSTEM_CLOCK.date() + ahead })
    await expect.poll(uins, waiting).toEqual(['A1', 'A2'])
    const { rows } = await database.db.pool.query(
      'select extract(epoch from now() - current_at)::float8 as lag from source_mirror',
    )
    expect(rows[0].lag).toBeGreaterThanOrEqual(0)
    expect(rows[0].lag).toBeLessThan(600)
  },
)

test('while a comparison fails, changes are found all the same', async () => {
  const { records, ...file } = polledSource({ env: 'READER' }) as { records: { Person: object } }
  const where = 'removed_at is null and 1 / (person_no - 5) is not null'
  await mirroredRegistry(database.db, { ...file, records: { Person: { ...records.Person, where } } })
  follow()
  await expect.poll(uins, waiting).toEqual(['A1', 'A2'])
  // Nothing tells of this row.
  await office.query(`alter table office.person disable trigger changed;
    insert into office.person (person_no, national_no, family_name, changed_at) values (5, 'A5', 'Nobody', '2000-01-01');
    alter table office.person enable trigger changed`)
  await requestComparison(database.db, (await requireRegistry(database.db, 'civil')).id)
  const failure = 'the database cannot be read as the file says: a value does not fit (22012)'
  await expect.poll(async () => (await mirror())?.failure, waiting).toBe(failure)
  await office.query(`insert into office.person values (3, 'A3', 'Eze')`)
  await expect.poll(uins, waiting).toEqual(['A1', 'A2', 'A3'])
  await expect.poll(async () => (await mirror())?.failure, waiting).toBe(failure)
})

test('a copy in which changes are missing is not current until it was compared; during any other comparison it is', async () => {
  const { records, ...file } = polledSource({ env: 'READER' }) as { records: { Person: object } }
  const where = 'removed_at is null and 1 / (person_no - 5) is not null'
  const registry = await mirroredRegistry(database.db, { ...file, records: { Person: { ...records.Person, where } } })
  const first = follow()
  await expect.poll(uins, waiting).toEqual(['A1', 'A2'])
  const lag = async () => (await mirror())?.lag ?? Number.NaN
  const set = (change: string) => database.db.pool.query(`update source_mirror set ${change}`)
  const failure = 'the database cannot be read as the file says: a value does not fit (22012)'
  const year = 365 * 86_400
  await office.query(`alter table office.person disable trigger changed;
    insert into office.person (person_no, national_no, family_name, changed_at) values (5, 'A5', 'Nobody', '2000-01-01');
    alter table office.person enable trigger changed`)
  await requestComparison(database.db, registry.id)
  await expect.poll(async () => (await mirror())?.failure, waiting).toBe(failure)
  await set(`current_at = '2000-01-01'`)
  await expect.poll(lag, waiting).toBeLessThan(year)
  await first.stop()
  // The position is lost, so that it is unknown what has changed since.
  await set(`current_at = '2000-01-01', position = '{}', comparison = null, comparison_wanted = false, failure = null`)
  follow()
  await expect.poll(async () => (await mirror())?.failure, waiting).toBe(failure)
  expect(log).toContain('changes of a source may be missing, so all its records are read again: its position is lost')
  await office.query(`insert into office.person values (3, 'A3', 'Eze')`)
  await expect.poll(uins, waiting).toEqual(['A1', 'A2', 'A3'])
  expect(await lag()).toBeGreaterThan(year)
  await office.query('delete from office.person where person_no = 5')
  await expect.poll(lag, waiting).toBeLessThan(year)
  expect(await mirror()).toMatchObject({ failure: null })
})

test('rows that a policy of the source hides stop the copy, and do not go', async () => {
  await mirroredRegistry(database.db, polledSource({ env: 'READER' }))
  follow()
  await expect.poll(uins, waiting).toEqual(['A1', 'A2'])
  await office.query(`create policy own on office.person using (person_no = 1);
    alter table office.person enable row level security`)
  await requestComparison(database.db, (await requireRegistry(database.db, 'civil')).id)
  await expect
    .poll(async () => (await mirror())?.failure, waiting)
    .toBe(
      'the database cannot be read as the file says: query would be affected by row-level security policy for table "person" (42501); a copy must have every row: name a view that belongs to the owner of the table in from, with follow: poll, or read the records live',
    )
  expect(await uins()).toEqual(['A1', 'A2'])
  // The office does as the message says.
  const reader = decodeURIComponent(new URL(env.READER ?? '').username)
  await office.query(`create view office.people as select * from office.person;
    grant select on office.people to ${reader}; delete from office.person where person_no = 2`)
  const { records, ...file } = polledSource({ env: 'READER' }) as { records: { Person: object } }
  const source = { ...file, records: { Person: { ...records.Person, from: 'office.people' } } }
  await changeSource(database.db, await requireRegistry(database.db, 'civil'), source)
  await expect.poll(uins, waiting).toEqual(['A1'])
})

test('one node follows; another one takes over when it is gone, and another source file is compared', async () => {
  const registry = await mirroredRegistry(database.db, polledSource({ env: 'READER' }))
  const first = follow()
  await expect.poll(uins, waiting).toEqual(['A1', 'A2'])
  follow()
  await first.stop()
  await office.query(`insert into office.person values (3, 'A3', 'Eze')`)
  await expect.poll(uins, waiting).toEqual(['A1', 'A2', 'A3'])
  const { records, ...other } = polledSource({ env: 'READER' }) as { records: { Person: object } }
  await changeSource(database.db, await requireRegistry(database.db, 'civil'), {
    ...other,
    records: { Person: { ...records.Person, where: 'person_no <> 2' } },
  })
  await expect.poll(uins, waiting).toEqual(['A1', 'A3'])
  expect((await requireRegistry(database.db, 'civil')).awaits_records).toBe(false)
  await expect(importFile(database.db, await requireRegistry(database.db, 'civil'), Readable.from(['{}']))).rejects.toThrow(
    'the records of civil are in a database of its own, which is only read; change them there',
  )
  expect(registry.own_records).toBe(true)
})
