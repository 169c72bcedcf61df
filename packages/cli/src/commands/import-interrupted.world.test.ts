/** An import that is stopped or killed in the middle goes on when the command runs again. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openDatabase } from '@rollcall/database/database'
import { findRegistry } from '@rollcall/records/registries/registries'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { eventRows } from '../../../server/test/notifications.ts'
import { rollcall, rollcallJson, start, until } from '../../test/command.ts'
import { commandDatabase } from '../../test/command-database.ts'

const { database, env, home } = await commandDatabase()

beforeAll(() => rollcallJson(['registry', 'add', 'civil'], env))
beforeEach(() => database.db.pool.query('truncate r1_person, r1_person_identifier'))

async function count(): Promise<number> {
  const { rows } = await database.db.pool.query('select count(*) as count from r1_person')
  return rows[0].count
}

/** People of a file that is longer than the 2,000 lines which are written at a time, and the line in which an import is held. */
const TOTAL = 4_100
const HELD = 3_000

/** Holds an import: the record of one line waits for a lock of ours, when the lines of before are in. */
async function heldImport(path: string, words: readonly string[]) {
  const { identifier } = JSON.parse((await readFile(path, 'utf8')).split('\n')[HELD] ?? '')
  const uin = identifier.find((one: { identifier_type: string }) => one.identifier_type === 'UIN').identifier_value
  const db = openDatabase(database.owner)
  const client = await db.pool.connect()
  await client.query('select pg_advisory_lock(1)')
  await client.query(`create function wait_for_test() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(1); return new; end $$`)
  await client.query(`create trigger held before insert on r1_person for each row
    when (new.primary_identifier = '${uin}') execute function wait_for_test()`)
  const importing = start(words, env)
  await until(importing, async () => {
    const { rows } = await db.pool.query(`select entries from import_progress where source <> 'ended'`)
    return rows[0]?.entries > 0 ? true : null
  })
  return {
    importing,
    release: () => client.query('select pg_advisory_unlock(1)'),
    /** Waits until nothing of the import holds the table, or the claim of the import, any more. */
    async close() {
      await client.query('drop function wait_for_test cascade')
      const claims = `select 1 from pg_locks where locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())`
      await expect.poll(async () => (await client.query(claims)).rows).toEqual([])
      client.release()
      await db.close()
    },
  }
}

test('SIGINT: exit code 4, and run the same command again to resume', async () => {
  const path = join(home.path, 'many.ndjson')
  await rollcall(['generate', 'civil', '--count', String(TOTAL), '--out', path])
  const { importing, release, close } = await heldImport(path, ['import', 'civil', path, '--json'])
  importing.process.kill('SIGINT')
  await release()
  const { code, stdout, stderr } = await importing.ended
  await close()
  expect({ code, stderr }).toEqual({ code: 4, stderr: expect.not.stringContaining('rollcall:') })
  const stopped = JSON.parse(stdout)
  expect(stopped).toMatchObject({ finished: false, rejected: 0 })
  expect(stopped.written).toBeLessThan(TOTAL)
  expect(await count()).toBe(stopped.written)

  const rest = await rollcallJson(['import', 'civil', path], env)
  expect(rest).toMatchObject({ finished: true, written: TOTAL, resumed_from: stopped.lines })
  expect(await count()).toBe(TOTAL)
})

test('kill -9 in the middle, with events: continued, each record has one event and one notification', async () => {
  const path = join(home.path, 'killed.ndjson')
  await rollcall(['generate', 'civil', '--count', String(TOTAL), '--seed', '9', '--out', path])
  const registry = await findRegistry(database.db, 'civil')
  if (registry === null) throw new Error('there is no registry')
  const { pool } = database.db
  await pool.query('truncate import_progress, event cascade')
  const subscribed = await eventRows(database, registry).subscribe({ id: 1 }, { event_type: 'REGISTER' })
  await pool.query(`insert into subscription_key values ($1, 'REGISTER', 'Person', '', $2, true)`, [
    ...[registry.id, subscribed.id],
  ])
  const words = ['import', 'civil', path, '--events', 'changes']
  const { importing, release, close } = await heldImport(path, words)
  expect((await importing.stop('SIGKILL')).code).toBeNull()
  await release()
  await close()
  const { resumed_from, finished, report } = await rollcallJson(words, env)
  expect(finished).toBe(true)
  // The report is of the whole file: nothing is lost of it, and nothing is counted twice.
  const counted = report.attributes.find((one: { name: string }) => one.name === 'UIN')
  expect(counted).toMatchObject({ understood: TOTAL, empty: 0, not_understood: 0 })
  expect(resumed_from).toBeGreaterThan(0)
  const { rows } = await pool.query(
    `select (select count(*) from r1_person) as records, count(*) as events, count(distinct record) as with_event,
        count(*) filter (where event_type = 'REGISTER') as registered,
        (select count(*) from notification) as notifications,
        (select count(distinct event) from notification) as notified
      from event`,
  )
  const [{ registered }] = rows
  expect(registered).toBeGreaterThan(0)
  expect(rows).toEqual([
    { records: TOTAL, events: TOTAL, with_event: TOTAL, registered, notifications: registered, notified: registered },
  ])
})

test('kill -9 in the middle of a complete file: run again, what is in stays, who is not in it goes, and each change is one event', async () => {
  const { pool } = database.db
  const [path, gone] = ['complete.ndjson', 'gone.ndjson'].map((name) => join(home.path, name)) as [string, string]
  await writeFile(gone, '{"identifier":[{"identifier_type":"UIN","identifier_value":"GONE"}]}\n')
  await rollcallJson(['import', 'civil', gone, '--events', 'none'], env)
  // The file is newer than who is not in it.
  await rollcall(['generate', 'civil', '--count', String(TOTAL), '--seed', '7', '--out', path])
  await pool.query('truncate import_progress, event cascade')
  const words = ['import', 'civil', path, '--complete', '--allow-removal', '1', '--events', 'changes']
  const { importing, release, close } = await heldImport(path, words)
  expect((await importing.stop('SIGKILL')).code).toBeNull()
  await release()
  await close()
  const before = Number(await count())
  expect(before).toBeGreaterThan(1)
  expect(before).toBeLessThan(TOTAL)
  expect(await rollcallJson(words, env)).toMatchObject({
    finished: true,
    written: TOTAL,
    unchanged: before - 1,
    // The records that there were before the first try.
    removal: { before: 1, absent: 1, removed: 1, refusal: null },
  })
  const { rows } = await pool.query(
    'select (select count(*) from r1_person) as records, count(*) as events, count(distinct record) as with_event from event',
  )
  expect(rows).toEqual([{ records: TOTAL, events: TOTAL + 1, with_event: TOTAL + 1 }])
})
