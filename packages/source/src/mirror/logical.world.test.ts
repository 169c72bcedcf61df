/** Copies that follow the log of a civil office's own PostgreSQL. */

import { randomUUID } from 'node:crypto'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { kindNamed } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { expect, test } from 'vitest'
import { testDatabase } from '../../../keys/test/postgres.ts'
import { followedOffice } from '../../test/followed-office.ts'
import { loggedSource } from '../../test/logged-office.ts'
import { copiedPeople, mirroredRegistry } from '../../test/mirrored-office.ts'
import { officeSource } from '../../test/office.ts'
import { changeSource } from '../change-source.ts'
import { checkSource } from '../check-source.ts'
import { openEngine } from '../engines.ts'
import { readSourceFile } from '../source-file.ts'
import { findMirrorRemains } from '../store/changed-sources.ts'
import { ClaimLost, logPlaceName, sourceFileDigest } from '../store/mirrors.ts'
import { removeMirrorRemains } from './left-sources.ts'
import { createLogFeed } from './log-feed.ts'

const KIND = kindNamed('civil') ?? expect.fail()
const PEOPLE = [
  { person_no: 1, national_no: 'A1', family_name: 'Okoro', given_name: 'Ada', gender: 2, born: '1985-06-12' },
  { person_no: 2, national_no: 'A2', family_name: 'Obi', gender: 1, birth: { no: 'B2', place: 'Lagos' } },
]

const at = followedOffice(PEOPLE)
const { publish, follow, uins, uinsIn, mirror } = at
const live = () => officeSource({ env: 'READER' })
const source = loggedSource
const check = async () => {
  const file = readSourceFile(source(), KIND)
  const engine = openEngine(file, at.env)
  try {
    return await checkSource(KIND, file, engine)
  } finally {
    await engine.close()
  }
}

test('what would lose changes or endanger the source is refused, with the statements that mend it', async () => {
  await at.set('max_slot_wal_keep_size', null)
  const refusal = await check().then(
    () => '',
    ({ message }: Error) => message,
  )
  const reader = decodeURIComponent(new URL(at.env.READER ?? '').username)
  expect(refusal.split('; ').map((line) => line.replace(/;$/, ''))).toEqual(
    expect.arrayContaining([
      `the account may not read the log: alter role ${reader} replication`,
      `there is no publication rollcall: create publication "rollcall" for table "office"."person", "office"."birth", "office"."marriage", "office"."death"`,
      `a deleted row of "office"."birth" does not tell its person_no: alter table "office"."birth" replica identity full`,
    ]),
  )
  expect(refusal).toContain('max_slot_wal_keep_size is -1, so that a slot could fill the disk while Rollcall is down')
  await at.set('max_slot_wal_keep_size', '1GB')
  await publish()
  await at.office.query('alter table office.birth drop constraint birth_pkey, replica identity default')
  await at.office.query('alter publication rollcall drop table office.death')
  await expect(check()).rejects.toThrow(
    '"office"."birth" has no key, so that its own updates fail while it is published: give it a primary key, or alter table "office"."birth" replica identity full;; "office"."death" is not published: alter publication "rollcall" add table "office"."death";',
  )
  await at.office.query('alter table office.birth replica identity full')
  await at.office.query('alter publication rollcall add table office.death')
  expect(await check()).toMatchObject({ writes: [], records: [{ rows: 2, leftOut: 0 }] })
})

test('changes of every table, and of those that a query reads, are found in their transactions; what is rolled back is none', async () => {
  await publish()
  const { Person } = source().records as { Person: { children: object[] } }
  const [birth, ...children] = Person.children
  const select = 'select birth_no, person_no, place from office.birth where place is not null'
  const queried = { ...birth, from: undefined, select, tables: [{ from: 'office.birth', on: 'person_no' }] }
  await mirroredRegistry(at.database.db, source({ records: { Person: { ...Person, children: [queried, ...children] } } }))
  follow()
  await expect.poll(uins).toEqual(['A1', 'A2'])
  await at.office.query(`begin; insert into office.person values (9, 'A9', 'Nobody'); rollback;
    insert into office.person values (3, 'A3', 'Eze');
    update office.birth set person_no = 1 where birth_no = 'B2'`)
  await expect.poll(uins).toEqual(['A1', 'A2', 'A3'])
  const people = () => copiedPeople(at.database.db)
  await expect.poll(people).toMatchObject({ A1: { birth_place: { name: 'Lagos' } } })
  expect((await people()).A2).not.toHaveProperty('birth_place')
  await at.office.query(`delete from office.person where person_no = 2; delete from office.birth;
    update office.person set person_no = 7, national_no = 'A7' where person_no = 3`)
  await expect.poll(uins).toEqual(['A1', 'A7'])
  await expect.poll(async () => (await people()).A1).not.toHaveProperty('birth_place')
  await at.office.query(`insert into office.person select no, 'B' || no, 'Many' from generate_series(1000, 21000) as no`)
  await at.office.query(`truncate office.person, office.birth, office.marriage, office.death;
    insert into office.person values (1, 'A1', 'Okoro')`)
  await expect.poll(uins).toEqual(['A1'])
  expect(await mirror()).toMatchObject({ failure: null, behind: 0, rejects: 0 })
})

test('of two adjacent transactions the second one is read after a death between them', async () => {
  await publish()
  const file = readSourceFile(source(), KIND)
  const engine = openEngine(file, at.env)
  const log = engine.log('civil')
  try {
    const begun = await log.begin(new AbortController().signal)
    expect([await log.state(begun), await log.state('FFFFFF/0')]).toMatchObject([{ isKept: true }, { isKept: false }])
    const reading = await log.read(begun)
    await at.office.query(`do $$ begin
      insert into office.person values (3, 'A3', 'Eze'); commit;
      insert into office.person values (4, 'A4', 'Obi'); commit;
    end $$`)
    const keys = async (from: typeof reading) => {
      for (;;) {
        await from.wait(1_000, new AbortController().signal)
        const { due, position } = from.take(1)
        if (due.size > 0) return { keys: [...(due.get('Person') ?? [])], position }
      }
    }
    const first = await keys(reading)
    expect(first.keys).toEqual(['3'])
    reading.acknowledge(first.position)
    await expect
      .poll(async () => {
        const { rows } = await at.office.query('select confirmed_flush_lsn::text as lsn from pg_replication_slots')
        return rows[0].lsn
      })
      .toBe(first.position)
    // The node that is gone still has the slot: whoever follows now takes it.
    const rest = await log.read(first.position)
    expect((await keys(rest)).keys).toEqual(['4'])
    await rest.close()
    await reading.close()
  } finally {
    await engine.close()
  }
})

test('a commit that is in the log, and not seen yet, is read when it is seen', async () => {
  await publish()
  await mirroredRegistry(at.database.db, source())
  const engine = openEngine(readSourceFile(source(), KIND), at.env)
  const log = engine.log('other')
  const begun = await log.begin(new AbortController().signal)
  const reading = await log.read(begun)
  const waitFor = (standby: string) => at.set('synchronous_standby_names', standby)
  try {
    follow()
    await expect.poll(uins).toEqual(['A1', 'A2'])
    // A standby that is not there: the commit is in the log, and waits.
    await waitFor('nobody')
    const committing = at.office.query(`update office.person set given_name = 'Eva' where person_no = 1`)
    let transactions: readonly number[] = []
    let reached = ''
    const changes = () => {
      const taken = reading.take(1)
      reached = taken.position
      return taken.transactions
    }
    await expect.poll(() => (transactions = [...transactions, ...changes()])).toHaveLength(1)
    expect(await log.isVisible(transactions)).toBe(false)
    expect(await log.state(reached), 'it is not lost').toMatchObject({ isKept: true })
    await waitFor('')
    await committing
    expect(await log.isVisible(transactions)).toBe(true)
    await expect.poll(() => copiedPeople(at.database.db)).toMatchObject({ A1: { name: { given_name: 'Eva' } } })
  } finally {
    await waitFor('')
    await reading.close()
    await log.drop()
    await engine.close()
  }
})

test('a place that waits for a transaction of others is given up when the node stops', async () => {
  await publish()
  const engine = openEngine(readSourceFile(source(), KIND), at.env)
  const log = engine.log('civil')
  const ending = new AbortController()
  try {
    await at.office.query('begin; select txid_current()')
    const begun = log.begin(ending.signal).then(
      () => 'begun',
      () => 'given up',
    )
    const slots = () => at.owner.query(`select 1 from pg_replication_slots where slot_name = 'rollcall_civil'`)
    await expect.poll(async () => (await slots()).rows.length).toBe(1)
    ending.abort()
    expect(await begun).toBe('given up')
    await at.office.query('rollback')
    await log.drop()
  } finally {
    await engine.close()
  }
})

test('what changed while nobody followed is found later; a lost slot leads to a comparison, and old records answer meanwhile', async () => {
  await publish()
  await mirroredRegistry(at.database.db, source())
  const first = follow()
  await expect.poll(uins).toEqual(['A1', 'A2'])
  await first.stop()
  await at.office.query(`insert into office.person values (3, 'A3', 'Eze'); delete from office.person where person_no = 2`)
  const second = follow()
  await expect.poll(uins).toEqual(['A1', 'A3'])
  await second.stop()
  await expect
    .poll(() =>
      at.office.query(`select pg_drop_replication_slot(slot_name) from pg_replication_slots where database = $1`, [at.name]).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  await at.office.query(`insert into office.person values (4, 'A4', 'Ife'); delete from office.person where person_no = 3`)
  follow()
  await expect.poll(uins).toEqual(['A1', 'A4'])
  expect(await mirror()).toMatchObject({ failure: null })
})

test('a setting that endangers the source alone does not end following', async () => {
  await publish()
  await mirroredRegistry(at.database.db, source())
  const first = follow()
  await expect.poll(uins).toEqual(['A1', 'A2'])
  await first.stop()
  const before = await mirror()
  await at.set('max_slot_wal_keep_size', null)
  await at.office.query(`insert into office.person values (3, 'A3', 'Eze')`)
  follow()
  await expect.poll(uins).toEqual(['A1', 'A2', 'A3'])
  expect(await mirror(), 'nothing is compared').toMatchObject({
    compared_at: before?.compared_at,
    comparison: null,
    failure: null,
  })
})

test('a server of another database has a slot of its own, and begins without a slot that nobody reads', async () => {
  await publish()
  await at.office.query(`select pg_create_logical_replication_slot('rollcall_civil', 'pgoutput')`)
  await mirroredRegistry(at.database.db, source())
  follow()
  await expect.poll(mirror).toMatchObject({ comparison: null, compared_at: expect.any(Date) })
  const before = await mirror()
  const other = await testDatabase()
  try {
    await mirroredRegistry(other.db, source())
    const followers = follow(other.db)
    const both = () => Promise.all([uins(), uinsIn(other.db)])
    await expect.poll(both).toEqual([
      ['A1', 'A2'],
      ['A1', 'A2'],
    ])
    await at.office.query(`insert into office.person values (3, 'A3', 'Eze')`)
    await expect.poll(both).toEqual([
      ['A1', 'A2', 'A3'],
      ['A1', 'A2', 'A3'],
    ])
    expect(await mirror()).toMatchObject({ comparison: null, compared_at: before?.compared_at, failure: null })
    const { rows } = await at.office.query('select slot_name as name, active from pg_replication_slots order by 1')
    const name = expect.stringMatching(/^rollcall_civil_[0-9a-f]{8}$/)
    expect(rows).toEqual([
      { name, active: true },
      { name, active: true },
    ])
    await followers.stop()
  } finally {
    await other.close()
  }
})

test('a slot that holds more of the log than the file allows is given up, and all records are compared', async () => {
  await publish()
  await mirroredRegistry(at.database.db, source({ logical: { most_log: 16 } }))
  const first = follow()
  await expect.poll(uins).toEqual(['A1', 'A2'])
  await first.stop()
  await at.office.query('create table office.other (text text)')
  for (let megabytes = 0; megabytes < 40; megabytes += 10) {
    await at.office.query(`insert into office.other select md5(no::text) || repeat(md5(random()::text), 30)
      from generate_series(1, 10000) as no`)
    await at.office.query('select pg_switch_wal()')
  }
  await at.office.query(`insert into office.person values (3, 'A3', 'Eze')`)
  follow()
  await expect.poll(uins).toEqual(['A1', 'A2', 'A3'])
  const { rows } = await at.office.query<{ size: number }>(
    'select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), restart_lsn)::float8 as size from pg_replication_slots',
  )
  expect(rows[0]?.size).toBeLessThan(16 * 1_048_576)
})

test('a slot goes with the source file that it was made for, and one that is followed again stays', async () => {
  await publish()
  await mirroredRegistry(at.database.db, source())
  follow()
  await expect.poll(uins).toEqual(['A1', 'A2'])
  const civil = () => requireRegistry(at.database.db, 'civil')
  const change = async (given: object) => changeSource(at.database.db, await civil(), given)
  const log = { warn: () => undefined }
  const clear = async () =>
    removeMirrorRemains(
      { db: at.database.db, env: at.env, log, registries: async () => [await civil()] },
      await findMirrorRemains(at.database.db.pool),
    )
  const slots = async () =>
    (await at.office.query('select confirmed_flush_lsn from pg_replication_slots where database = $1', [at.name])).rows.length
  const { Person } = source().records
  await change(source({ follow: 'poll', records: { Person: { ...Person, changed: 'person_no' } } }))
  await clear()
  expect(await slots()).toBe(0)
  // A follower that does not know yet makes no other one.
  const file = readSourceFile(source(), KIND)
  const engine = openEngine(file, at.env)
  const claim = { registry: (await civil()).id, claim: randomUUID() }
  const placeName = await logPlaceName(at.database.db.pool, await civil())
  const late = { db: at.database.db, registry: await civil(), file: { ...file, mirror: file.mirror ?? expect.fail() }, engine }
  const told = { log, waits: async () => undefined }
  const feed = createLogFeed({ ...late, ...told, claim, placeName, limits: DEFAULT_LIMITS, now: () => new Date() })
  await expect(feed.begin(new AbortController().signal)).rejects.toBeInstanceOf(ClaimLost)
  await engine.close()
  expect(await slots()).toBe(0)
  await at.office.query(`insert into office.person values (3, 'A3', 'Eze')`)
  await expect.poll(uins).toEqual(['A1', 'A2', 'A3'])

  await change(source())
  await expect.poll(slots).toBe(1)
  await change(source({ events: 'none' }))
  const isBegun = async () => (await claimed()) === sourceFileDigest(await civil())
  const claimed = async () => (await at.database.db.pool.query('select file from source_mirror')).rows[0].file
  await expect.poll(isBegun).toBe(true)
  await clear()
  expect([await slots(), await findMirrorRemains(at.database.db.pool)]).toEqual([1, []])
  await at.office.query('delete from office.person where person_no = 3')
  await expect.poll(uins).toEqual(['A1', 'A2'])

  const { READER = '' } = at.env
  at.env.READER = 'postgresql://nobody@127.0.0.1:9/none'
  await expect.poll(async () => (await change(live()).catch(({ message }) => message)) ?? 'changed').toBe('changed')
  await clear()
  expect([await slots(), await findMirrorRemains(at.database.db.pool)], 'it is tried again').toMatchObject([1, [{}]])
  at.env.READER = READER
  await clear()
  expect(await slots()).toBe(0)
})

test('a slot that has lost log goes with its source file, too', async () => {
  await publish()
  await mirroredRegistry(at.database.db, source())
  const followers = follow()
  await expect.poll(uins).toEqual(['A1', 'A2'])
  await followers.stop()
  await at.set('max_slot_wal_keep_size', '1MB')
  const status = async () => {
    await at.office.query(`select pg_logical_emit_message(false, 'test', 'more')`)
    await at.office.query('select pg_switch_wal()')
    await at.office.query('checkpoint')
    return (await at.office.query('select wal_status from pg_replication_slots where database = $1', [at.name])).rows
  }
  await expect.poll(status).toEqual([{ wal_status: 'lost' }])
  const civil = await requireRegistry(at.database.db, 'civil')
  const { Person } = source().records
  await changeSource(at.database.db, civil, source({ follow: 'poll', records: { Person: { ...Person, changed: 'person_no' } } }))
  const deps = { db: at.database.db, env: at.env, log: { warn: () => undefined }, registries: async () => [civil] }
  await removeMirrorRemains(deps, await findMirrorRemains(at.database.db.pool))
  const { rows } = await at.office.query('select 1 from pg_replication_slots where database = $1', [at.name])
  expect([rows, await findMirrorRemains(at.database.db.pool)]).toEqual([[], []])
})
