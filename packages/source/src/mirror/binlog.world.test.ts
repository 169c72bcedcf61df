/** Copies that follow the binlog of a civil office's own MariaDB. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { kindNamed } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findProgram } from '../../../../test/programs.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { differences } from '../../test/copies.ts'
import { followAlone, kill, transactionsWithKills } from '../../test/follower-process.ts'
import { hasMariadb, type MariadbDatabase, mariadbDatabase } from '../../test/mariadb.ts'
import { binlogSource, mariadbOffice } from '../../test/mariadb-office.ts'
import { type MariadbProcess, startMariadb } from '../../test/mariadb-setup.ts'
import { copiedPeople, mirroredRegistry } from '../../test/mirrored-office.ts'
import { inMariadb } from '../../test/office-changes.ts'
import { checkSource } from '../check-source.ts'
import { type ChangeLog, LogLost, type LogReader } from '../engine/change-log.ts'
import type { OpenEngine } from '../engine/engine.ts'
import { openEngine } from '../engines.ts'
import { readSourceFile } from '../source-file.ts'
import { findMirror, requestComparison } from '../store/mirrors.ts'
import { type RunningFollowers, startFollowers } from './followers.ts'

const KIND = kindNamed('civil') ?? expect.fail()
const PEOPLE = [
  { person_no: 1, national_no: 'A1', family_name: 'Okoro', given_name: 'Ada', gender: 2, born: '1985-06-12' },
  { person_no: 2, national_no: 'A2', family_name: 'Obi', gender: 1, birth: { no: 'B2', place: 'Lagos' } },
]
const LOGGED = [
  ...['--skip-networking', '--log-bin=log', '--server-id=1', '--binlog-format=ROW', '--binlog-row-metadata=FULL'],
  '--max-allowed-packet=1G',
  // A commit outlives the process, though not the machine.
  '--innodb-flush-log-at-trx-commit=2',
]

describe.skipIf(!hasMariadb())('the binlog of MariaDB', () => {
  let folder: string
  let server: MariadbProcess
  let database: TestDatabase
  let office: MariadbDatabase
  let account: string
  let env: Record<string, string>
  let running: RunningFollowers[]

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'log-'))
    server = await startMariadb(findProgram('mariadbd') ?? '', folder, LOGGED)
  })
  afterAll(async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    database = await testDatabase()
    office = await mariadbOffice(PEOPLE, server.socketPath)
    account = `r_${office.name.slice(-8)}`
    await office.run(`create user ${account} identified by 'reads'`)
    await office.run(`grant select on ${office.name}.* to ${account}`)
    env = { OFFICE: office.addressOf(account, 'reads') }
    running = []
  })
  afterEach(async () => {
    await Promise.all(running.map((one) => one.stop()))
    await office.run(`drop user ${account}`)
    await office.drop()
    await database.close()
  })

  const allow = () => office.run(`grant replication slave, replication client on *.* to ${account}`)
  async function within<Result>(given: object, work: (engine: OpenEngine) => Promise<Result>): Promise<Result> {
    const engine = openEngine(readSourceFile(given, KIND), env)
    try {
      return await work(engine)
    } finally {
      await engine.close()
    }
  }
  const check = (given: object = binlogSource()) =>
    within(given, (engine) => checkSource(KIND, readSourceFile(given, KIND), engine))
  /** Follows the office until the test ends. */
  async function follow(): Promise<RunningFollowers> {
    const log = { warn: () => undefined, info: () => undefined }
    const registries = async () => [await requireRegistry(database.db, 'civil')]
    const limits = { ...DEFAULT_LIMITS, node_lease: 2 }
    const followers = startFollowers({ db: database.db, env, limits, log, registries })
    running.push(followers)
    return followers
  }
  const people = () => copiedPeople(database.db)
  const uins = async () => Object.keys(await people().catch(() => ({}))).toSorted()
  const mirror = async () => findMirror(database.db, (await requireRegistry(database.db, 'civil')).id)
  const reading = <Result>(given: object, work: (log: ChangeLog) => Promise<Result>) =>
    within(given, (engine) => work(engine.log('civil')))
  /** The next keys, and the position behind them. */
  async function next(from: LogReader, most = 1) {
    for (;;) {
      await from.wait(1_000, new AbortController().signal)
      const { due, position, transactions } = from.take(most)
      if (due.size > 0) return { keys: [...(due.get('Person') ?? [])], position, transactions }
    }
  }

  test('what would lose changes is refused, with the statements that mend it', async () => {
    await expect(check()).rejects.toThrow(
      `the account may not read the log: grant replication slave, replication client on *.* to '${account}'@'%';`,
    )
    await allow()
    expect(await check()).toMatchObject({ writes: [], records: [{ rows: 2, leftOut: 0 }] })
    const live = { ...binlogSource({ way: 'live' }), follow: undefined }
    expect((await check(JSON.parse(JSON.stringify(live)))).writes).toEqual([
      'it has more than reading on *.*: REPLICATION SLAVE, BINLOG MONITOR',
    ])
    await office.run('set global binlog_format = MIXED')
    await office.run('set global binlog_row_metadata = NO_LOG')
    const refusal = await check().catch(({ message }: Error) => message)
    await office.run('set global binlog_format = ROW')
    await office.run('set global binlog_row_metadata = FULL')
    const mend = '; and the same in its configuration file; sessions that are open keep their own value'
    expect(refusal).toBe(
      `binlog_format is MIXED: set global binlog_format = ROW${mend}; binlog_row_metadata is NO_LOG: set global binlog_row_metadata = FULL${mend}`,
    )
    await office.run('alter table birth add constraint whose foreign key (person_no) references person on delete cascade')
    await expect(check()).rejects.toThrow(
      'a foreign key of birth changes its rows with those of another table, which is not in the log: write follow: poll',
    )
  })

  test.each([
    ['uuid', 'is uuid, and keys that are read in the log are'],
    ['int(9) unsigned zerofill', 'is int(9) unsigned zerofill, and keys that are read in the log are'],
    ['varchar(9) character set ucs2', 'or texts in utf8mb4, utf8mb3, ascii, latin1: write follow: poll'],
  ])('a key of the type %s is refused', async (type, refusal) => {
    await allow()
    await office.run(`create table folder (no ${type} primary key, uin varchar(9) unique)`)
    const Person = { from: 'folder', key: 'no', columns: { 'identifier[UIN]': 'uin' } }
    await expect(check(binlogSource({ records: { Person } }))).rejects.toThrow(refusal)
  })

  test('a view is refused', async () => {
    await allow()
    await office.run('create view people as select * from person')
    const Person = { from: 'people', key: 'person_no', columns: { 'identifier[UIN]': 'national_no' } }
    await expect(check(binlogSource({ records: { Person } }))).rejects.toThrow(
      'people is no table: its changes are not in the log under its name; write follow: poll',
    )
  })

  test('keys are read behind columns of every type', async () => {
    await allow()
    await office.run(`create table kinds (a tinyint, b smallint unsigned, c mediumint, d bigint, e year, f bit(11), g float, h double,
      i decimal(31,7), j date, k time, l time(5), m datetime, n datetime(3), o timestamp(6) null, p char(3), q char(200), r varchar(9),
      s varchar(3000), t binary(9), u varbinary(300), v tinyblob, w text, x longtext, y json, z enum('a','b'), aa set('a','b'),
      ab uuid, ac inet6, ad point, ae varchar(90) compressed, af text compressed, ag int as (a + 1), ah int as (a + 2) stored,
      ai char(4) character set latin1, uin varchar(9), no varchar(16) character set latin1 primary key) engine = Aria`)
    const values = `1, 2, 3, 4, 2020, b'101', 1.5, 2.5, 12.5, '2020-01-01', '10:00', '10:00:00.5', now(), now(), now(), 'p', 'q', 'r',
      repeat('s', 3000), 't', 'u', 'v', 'w', repeat('x', 70000), '{"a":1}', 'b', 'a,b', uuid(), '::1', point(1, 2), 'ae', 'af'`
    const Person = { from: 'kinds', key: 'no', columns: { 'identifier[UIN]': 'uin' } }
    await reading(binlogSource({ records: { Person } }), async (log) => {
      expect(await log.problems()).toEqual([])
      const from = await log.read(await log.begin(new AbortController().signal))
      await office.run(`insert into kinds values (${values}, default, default, 'ü', 'A1', 'k€ü'), (${'null, '.repeat(32)}
        default, default, null, 'A2', 'other')`)
      await office.run(`update kinds set no = 'third' where no = 'k€ü'`)
      const found = [...(await next(from)).keys, ...(await next(from)).keys]
      expect(found).toEqual(['k€ü', 'other', 'k€ü', 'third'])
      await from.close()
    })
  })

  test('a row of 100 MB is read without keeping it, and of two adjacent transactions the second one after a death between them', async () => {
    await allow()
    await office.run('alter table person add photo longblob first')
    await reading(binlogSource(), async (log) => {
      const begun = await log.begin(new AbortController().signal)
      const from = await log.read(begun)
      const insert = 'insert into person (person_no, national_no, family_name, photo) values'
      await office.run(`${insert} (3, 'A3', 'Eze', repeat('x', 100000000))`)
      await office.run(`${insert} (4, 'A4', 'Ife', '')`)
      const first = await next(from)
      expect(first.keys).toEqual(['3'])
      expect([log.isBefore(begun, first.position), log.isBefore(first.position, (await log.state(begun)).end)]).toEqual([
        true,
        true,
      ])
      await from.close()
      const rest = await log.read(first.position)
      expect((await next(rest)).keys).toEqual(['4'])
      await rest.close()
    })
  })

  test('a commit that is in the log, and not seen yet, is not visible', async () => {
    await allow()
    await reading(binlogSource(), async (log) => {
      const from = await log.read(await log.begin(new AbortController().signal))
      const other = await mariadbDatabase(server.socketPath)
      // A replica that is not there: the commit is in the log, and waits.
      await office.run(`set global rpl_semi_sync_master_wait_point = AFTER_SYNC`)
      await office.run(`set global rpl_semi_sync_master_timeout = 1000000, rpl_semi_sync_master_enabled = on`)
      const committing = office.run(`update person set given_name = 'Eva' where person_no = 1`)
      const { transactions, position } = await next(from)
      expect(await log.isVisible(transactions)).toBe(false)
      expect(await log.state(position), 'it is not lost').toMatchObject({ isKept: true })
      await other.run('set global rpl_semi_sync_master_enabled = off')
      await committing
      expect(await log.isVisible(transactions)).toBe(true)
      await other.drop()
      await from.close()
    })
  })

  test('changes of every table are found, in their transactions; what is rolled back is none; a table that is emptied is compared', async () => {
    await allow()
    await mirroredRegistry(database.db, binlogSource())
    await follow()
    await expect.poll(uins).toEqual(['A1', 'A2'])
    await office.run('start transaction')
    await office.run(`insert into person (person_no, national_no, family_name) values (9, 'A9', 'Nobody')`)
    await office.run('rollback')
    await office.run(`insert into person (person_no, national_no, family_name) values (3, 'A3', 'Eze')`)
    await office.run(`update birth set person_no = 1 where birth_no = 'B2'`)
    await expect.poll(uins).toEqual(['A1', 'A2', 'A3'])
    await expect.poll(people).toMatchObject({ A1: { birth_place: { name: 'Lagos' } } })
    expect((await people()).A2).not.toHaveProperty('birth_place')
    await office.run('delete from person where person_no = 2')
    await office.run('delete from birth')
    await office.run(`update person set person_no = 7, national_no = 'A7' where person_no = 3`)
    await expect.poll(uins).toEqual(['A1', 'A7'])
    await expect.poll(async () => (await people()).A1).not.toHaveProperty('birth_place')
    await office.run(`insert into person (person_no, national_no, family_name)
      select 1000 + seq, concat('M', seq), 'Many' from seq_1_to_1000`)
    await expect.poll(async () => (await uins()).length).toBe(1_002)
    await office.run('truncate person')
    await office.run(`insert into person (person_no, national_no, family_name) values (1, 'A1', 'Okoro')`)
    await expect.poll(uins).toEqual(['A1'])
    await expect.poll(mirror).toMatchObject({ failure: null, behind: 0, rejects: 0 })
  })

  test('a mapped column that is dropped stops the copy, with the reason, until it is mended', async () => {
    await allow()
    await mirroredRegistry(database.db, binlogSource())
    await follow()
    await expect.poll(uins).toEqual(['A1', 'A2'])
    await office.run('alter table person change mobile phone varchar(30)')
    await office.run(`update person set given_name = 'Eva' where person_no = 1`)
    await expect
      .poll(async () => (await mirror())?.failure)
      .toBe(`the database cannot be read as the file says: Unknown column 'own.mobile' in 'SELECT' (1054)`)
    await office.run('alter table person change phone mobile varchar(30)')
    await expect.poll(people).toMatchObject({ A1: { name: { given_name: 'Eva' } } })
    await expect.poll(async () => (await mirror())?.failure).toBeNull()
  })

  test('a log that is reset leads to a comparison, whether it is read at that time or not', async () => {
    await allow()
    await mirroredRegistry(database.db, binlogSource())
    await office.run('reset master')
    const second = () => office.run('select unix_timestamp()')
    const begun = await second()
    const name = (given: string) => office.run(`update person set given_name = '${given}' where person_no = 1`)
    const first = await follow()
    await expect.poll(uins).toEqual(['A1', 'A2'])
    await name('Eva')
    await expect.poll(people).toMatchObject({ A1: { name: { given_name: 'Eva' } } })
    await first.stop()
    // Their log is as long as that before, and has the same numbers; the second in which it was made is another.
    await expect.poll(second).not.toEqual(begun)
    await office.run('delete from person where person_no = 2')
    await office.run('reset master')
    await name('Ada')
    await follow()
    await expect.poll(uins).toEqual(['A1'])
    await expect.poll(people).toMatchObject({ A1: { name: { given_name: 'Ada' } } })
    await office.run(`insert into person (person_no, national_no, family_name) values (3, 'A3', 'Eze')`)
    await expect.poll(uins).toEqual(['A1', 'A3'])
    await office.run('reset master')
    await office.run('delete from person where person_no = 3')
    await expect.poll(uins).toEqual(['A1'])
    await expect.poll(mirror).toMatchObject({ failure: null, behind: 0 })
  })

  test('the copy is as its source wherever what follows it and its source were killed, and each state that it read is one event', async () => {
    await allow()
    await office.run('alter table person drop index national_no')
    const { id } = await mirroredRegistry(database.db, binlogSource())
    let follower = followAlone(database.connection, env)
    const kills = {
      async follower() {
        await kill(follower)
        follower = followAlone(database.connection, env)
      },
      async source() {
        await server.kill()
        await office.reconnect()
      },
    }
    try {
      await expect.poll(uins).toEqual(['A1', 'A2'])
      const many = `insert into person (person_no, national_no, family_name)
        select seq, concat('M', seq), 'Many' from seq_100_to_6099`
      for (const end of ['rollback', 'commit']) {
        for (const statement of ['start transaction', many, end]) await office.run(statement)
      }
      await kills.follower()
      for (const { changes, isKept, kill: who } of transactionsWithKills()) {
        await office.run('start transaction')
        for (const one of changes) await office.run(inMariadb(one))
        await office.run(isKept ? 'commit' : 'rollback')
        if (who !== null) await kills[who]()
      }
      await kills.source()
      await office.run('update person set gender = 1 where gender = 7 or person_no = 100')
      await expect.poll(async () => (await people()).M100?.sex).toBe('male')
      await requestComparison(database.db, id)
      await expect.poll(() => differences(database.db, 'civil', env)).toEqual([])
      await expect.poll(mirror).toMatchObject({ failure: null, behind: 0 })
      const counted = async (text: string) => (await database.db.pool.query({ text, rowMode: 'array' })).rows
      expect(await counted('select 1 from event group by record, record_version, event_type having count(*) > 1')).toEqual([])
      const registered = await counted(`select count(*)::int from event where event_type = 'REGISTER' group by record`)
      expect(registered.length).toBeGreaterThanOrEqual(6_000)
      expect(registered.filter(([times]) => times !== 1)).toEqual([])
    } finally {
      await kill(follower)
    }
  })

  test('a place that the log does not have any more is none', async () => {
    await allow()
    await reading(binlogSource(), async (log) => {
      const begun = await log.begin(new AbortController().signal)
      await office.run('flush binary logs')
      await office.run('reset master')
      await expect(log.read(begun)).rejects.toBeInstanceOf(LogLost)
    })
  })
})
