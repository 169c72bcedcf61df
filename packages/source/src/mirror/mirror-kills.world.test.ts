/** A copy under random changes of its source, while kill -9 ends what follows it, and its source: in the end it is as its source. */

import type { ChildProcess } from 'node:child_process'
import { kindNamed } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postmasterOf } from '../../../database/test/embedded.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { followAlone, kill, transactionsWithKills } from '../../test/follower-process.ts'
import { type LoggedPostgres, loggedPostgres, loggedSource, publishOffice } from '../../test/logged-office.ts'
import { copiedPeople, mirroredRegistry } from '../../test/mirrored-office.ts'
import { makeOffice, officeReader, officeSource } from '../../test/office.ts'
import { checkSource } from '../check-source.ts'
import { openEngine } from '../engines.ts'
import { readSourceFile } from '../source-file.ts'
import { findMirror, requestComparison } from '../store/mirrors.ts'

/** More people than one batch has. */
const MANY = 6_000

let postgres: LoggedPostgres
let database: TestDatabase
let office: pg.Client
let reader: string
let follower: ChildProcess | undefined
beforeAll(async () => {
  ;[postgres, database] = await Promise.all([loggedPostgres(), testDatabase()])
  await postgres.run(`alter system set max_slot_wal_keep_size = '1GB'`)
  await postgres.run('select pg_reload_conf()')
  await makeOffice(postgres.connection, [])
  reader = await officeReader(postgres.connection)
  office = await owner()
  await office.query('alter table office.person drop constraint person_national_no_key')
  await publishOffice(office, reader)
})
afterAll(async () => {
  await kill(follower)
  await office.end()
  await database.close()
  await postgres.close()
})

async function owner(): Promise<pg.Client> {
  for (;;) {
    const client = new pg.Client(postgres.connection)
    client.on('error', () => undefined)
    try {
      await client.connect()
      return client
    } catch {
      await client.end().catch(() => undefined)
    }
  }
}

const follow = (): ChildProcess => followAlone(database.connection, { READER: reader })

const KILLS = {
  async follower() {
    await kill(follower)
    follower = follow()
  },
  async source() {
    process.kill((await postmasterOf(postgres.directory)) ?? expect.fail(), 'SIGKILL')
    await office.end().catch(() => undefined)
    office = await owner()
  },
}

const mirror = async () => findMirror(database.db, (await requireRegistry(database.db, 'civil')).id)
const uins = async () => Object.keys(await copiedPeople(database.db).catch(() => ({}))).toSorted()

test('the copy is as its source wherever what follows it and its source were killed, and each state that it read is one event', async () => {
  await mirroredRegistry(database.db, loggedSource())
  follower = follow()
  await expect.poll(async () => (await mirror())?.compared_at ?? null).not.toBeNull()
  const many = `insert into office.person select no, 'M' || no, 'Many' from generate_series(100, ${99 + MANY}) as no`
  await office.query(`begin; ${many}; rollback; begin; ${many}; commit`)
  await KILLS.follower()
  for (const { changes, isKept, kill: who } of transactionsWithKills()) {
    await office.query(`begin; ${changes.join('; ')}; ${isKept ? 'commit' : 'rollback'}`)
    if (who !== null) await KILLS[who]()
  }

  await office.query('alter table office.person rename column mobile to phone')
  await office.query('update office.person set gender = 1 where gender = 7 or person_no = 100')
  await expect
    .poll(async () => (await mirror())?.failure)
    .toBe('the database cannot be read as the file says: column own.mobile does not exist (42703)')
  await KILLS.source()
  await office.query('alter table office.person rename column phone to mobile')

  await requestComparison(database.db, (await requireRegistry(database.db, 'civil')).id)
  const { rows } = await office.query<{ national_no: string }>(
    'select distinct national_no from office.person where removed_at is null',
  )
  await expect.poll(uins).toEqual(rows.map(({ national_no }) => national_no).toSorted())
  await expect.poll(async () => (await copiedPeople(database.db)).M100?.sex).toBe('male')
  await expect.poll(mirror).toMatchObject({ failure: null, behind: 0 })

  const counted = async (text: string) => (await database.db.pool.query({ text, rowMode: 'array' })).rows
  const twice = 'select 1 from event group by record, record_version, event_type having count(*) > 1'
  expect(await counted(twice)).toEqual([])
  const registered = await counted(`select count(*)::int from event where event_type = 'REGISTER' group by record`)
  expect(registered.length).toBeGreaterThanOrEqual(MANY)
  expect(registered.filter(([times]) => times !== 1)).toEqual([])
})

test('a standby is read live and polled as far as it has come, and its log is not followed', async () => {
  await kill(follower)
  await office.end()
  const kind = kindNamed('civil') ?? expect.fail()
  const { Person } = loggedSource().records
  const polled = loggedSource({ follow: 'poll', records: { Person: { ...Person, changed: 'removed_at' } } })
  await postgres.asStandby(async () => {
    const check = async (given: object) => {
      const file = readSourceFile(JSON.parse(JSON.stringify(given)), kind)
      const engine = openEngine(file, { READER: reader })
      try {
        const { weak } = await checkSource(kind, file, engine)
        const state = await engine.begin()
        const [own = expect.fail()] = [...file.records.values()].map((one) => one.own)
        const mark = own.changed === null ? null : await state.mark(own)
        await state.end()
        return { weak, mark: Number(mark) }
      } finally {
        await engine.close()
      }
    }
    const weak = ['it is a standby: answers are as old as what it has received']
    expect(await check(officeSource({ env: 'READER' }))).toEqual({ weak, mark: 0 })
    // It has received nothing since it was started.
    expect(await check(polled)).toEqual({ weak, mark: 0 })
    await expect(check(loggedSource())).rejects.toThrow(
      'it is a standby, whose log is not followed: name its primary in the address, or write follow: poll',
    )
  })
  office = await owner()
})
