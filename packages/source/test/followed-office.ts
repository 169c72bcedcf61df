/** The set-up of tests in which copies follow the log of a civil office's own PostgreSQL: a new office for each test. */
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { requireRegistry } from '@rollcall/records/registries/registries'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { type RunningFollowers, startFollowers } from '../src/mirror/followers.ts'
import { findMirror } from '../src/store/mirrors.ts'
import { type LoggedPostgres, loggedPostgres, publishOffice } from './logged-office.ts'
import { copiedPeople } from './mirrored-office.ts'
import { makeOffice, officeReader } from './office.ts'

interface PresentOffice {
  /** A connection of the owner of the office's server. */
  owner: pg.Client
  /** Our database, which has the copies. */
  database: TestDatabase
  /** A connection of the owner of the office's database. */
  office: pg.Client
  /** The name of the office's database. */
  name: string
  /** Environment variables; `READER` has the address at which the office is read. */
  env: Record<string, string>
}

export interface FollowedOffice extends PresentOffice {
  /** Does what the administrator of the source must do. */
  publish(): Promise<void>
  /** Starts a node that follows the office. It is stopped after the test. */
  follow(db?: TestDatabase['db']): RunningFollowers
  /** The UINs of the copied people, sorted; empty when there is no copy yet. */
  uins(): Promise<readonly string[]>
  uinsIn(db: TestDatabase['db']): Promise<readonly string[]>
  mirror(): ReturnType<typeof findMirror>
  /** Changes a setting of the office's server, and waits until the server uses it. @param value null: the default */
  set(setting: string, value: string | null): Promise<void>
}

/**
 * Registers the set-up for all tests of the file that calls it.
 * @param people the people of each new office
 * @returns an object whose members are those of the present test
 */
export function followedOffice(people: Parameters<typeof makeOffice>[1]): FollowedOffice {
  let postgres: LoggedPostgres
  let offices = 0
  let running: RunningFollowers[] = []
  const at = {} as PresentOffice
  const uinsIn = async (db: TestDatabase['db']) => Object.keys(await copiedPeople(db).catch(() => ({}))).toSorted()

  beforeAll(async () => {
    postgres = await loggedPostgres()
    at.owner = new pg.Client(postgres.connection)
    await at.owner.connect()
  })
  afterAll(async () => {
    await at.owner.end()
    await postgres.close()
  })
  beforeEach(async () => {
    at.database = await testDatabase()
    offices += 1
    at.name = `office_${offices}`
    await postgres.run(`create database ${at.name}`)
    const connection = { ...postgres.connection, database: at.name }
    await makeOffice(connection, people)
    at.env = { READER: await officeReader(connection) }
    at.office = new pg.Client(connection)
    await at.office.connect()
    await setOn(at.owner, 'max_slot_wal_keep_size', '1GB')
    running = []
  })
  afterEach(async () => {
    await Promise.all(running.map((one) => one.stop()))
    // The server notices a moment later that nobody reads the log any more.
    const slots = 'from pg_replication_slots where database = $1'
    await at.office.query(`select pg_terminate_backend(active_pid, 10000) ${slots} and active`, [at.name])
    await at.office.query(`select pg_drop_replication_slot(slot_name) ${slots}`, [at.name])
    await at.office.end()
    await at.database.close()
    await postgres.run(`drop database ${at.name} with (force)`)
  })
  return Object.assign(at, {
    publish: () => publishOffice(at.office, at.env.READER ?? ''),
    follow(db = at.database.db) {
      const log = { warn: () => undefined, info: () => undefined }
      const registries = async () => [await requireRegistry(db, 'civil')]
      const followers = startFollowers({ db, env: at.env, limits: { ...DEFAULT_LIMITS, node_lease: 2 }, log, registries })
      running.push(followers)
      return followers
    },
    uins: () => uinsIn(at.database.db),
    uinsIn,
    mirror: async () => findMirror(at.database.db, (await requireRegistry(at.database.db, 'civil')).id),
    set: (setting: string, value: string | null) => setOn(at.owner, setting, value),
  })
}

async function setOn(owner: pg.Client, setting: string, value: string | null): Promise<void> {
  await owner.query(value === null ? `alter system reset ${setting}` : `alter system set ${setting} = '${value}'`)
  await owner.query('select pg_reload_conf()')
  const { rows } = await owner.query('select boot_val from pg_settings where name = $1', [setting])
  await expect.poll(async () => (await owner.query(`show ${setting}`)).rows[0][setting]).toBe(value ?? rows[0].boot_val)
}
