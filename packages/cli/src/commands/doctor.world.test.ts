import { chmod, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { query } from '../../../database/test/statement.ts'
import { emptyDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { databaseUrl, dataDirectory, rollcall } from '../../test/command.ts'

interface Row {
  readonly check: string
  readonly state: string
  readonly advice: string
}

async function doctor(env: Record<string, string>): Promise<{ code: number | null; rows: Row[] }> {
  const { code, stdout, stderr } = await rollcall(['doctor', '--json'], env)
  expect(stderr).toBe('')
  return { code, rows: JSON.parse(stdout) }
}

test('it looks at a database that was never migrated, and leaves it so', async () => {
  const { connection, drop } = await emptyDatabase()
  const env = { DATABASE_URL: databaseUrl(connection) }
  const [first, again] = [await doctor(env), await doctor(env)]
  await drop()
  expect(first).toEqual(again)
  expect(first.code).toBe(0)
  const pending = first.rows.find(({ check }) => check === 'migrations')
  expect(pending).toMatchObject({ state: 'weak', advice: expect.stringContaining('will run at the next start') })
})

test('a database that a newer version has migrated is broken, with what to run', async () => {
  const { connection, owner, close } = await testDatabase()
  await query(owner, `insert into rollcall_migration values ('2999-later', '2999-01-01')`)
  const { code, rows } = await doctor({ DATABASE_URL: databaseUrl(connection) })
  await close()
  expect(code).toBe(1)
  expect(rows.at(-1)).toEqual({
    check: 'database',
    command: null,
    state: 'broken',
    advice:
      'a newer Rollcall has migrated this database: its schema is of version 0.1.0 (2999-later), and this program is made for 0.1.0; run the version that migrated it, or a later one',
  })
})

test('without a database it makes none, and judges the files there are', async () => {
  const { path, remove } = await dataDirectory()
  await writeFile(join(path, 'demo.json'), '{}')
  await chmod(join(path, 'demo.json'), 0o644)
  const { code, rows } = await doctor({ ROLLCALL_DATA: path })
  const left = await readdir(path)
  await remove()
  expect(left).toEqual(['demo.json'])
  expect(code).toBe(1)
  expect(rows.find(({ check }) => check === 'database')).toMatchObject({
    state: 'broken',
    advice: `there is none in ${path}: set DATABASE_URL or ROLLCALL_DATA to those of the service, or make one with rollcall serve, demo or migrate`,
  })
  expect(rows.find(({ check }) => check === 'demo_file_mode')).toMatchObject({ state: 'broken' })
})

test('a configuration or a database that does not work is broken', async () => {
  expect(await doctor({ PORT: '99999' })).toEqual({
    code: 1,
    rows: [
      { check: 'configuration', command: null, state: 'broken', advice: 'PORT must be a port, a whole number from 0 to 65535' },
    ],
  })
  const { code, rows } = await doctor({ DATABASE_URL: 'postgres://u:hidden@127.0.0.1:1/db' })
  expect(code).toBe(1)
  expect(rows.at(-1)).toEqual({
    check: 'database',
    command: null,
    state: 'broken',
    advice:
      'nothing listens for the database db on 127.0.0.1:1: start PostgreSQL, or correct the host and the port of DATABASE_URL (ECONNREFUSED)',
  })
})

test('for people it is a table, below a line that says which database and settings it examines', async () => {
  const { path, remove } = await dataDirectory()
  const { code, stdout } = await rollcall(['doctor'], { ROLLCALL_DATA: path, PORT: '' })
  await remove()
  const examined = `the embedded database in ${path}, with these settings: ROLLCALL_DATA, ROLLCALL_MASTER_KEY, ROLLCALL_DRAIN_TIME`
  expect(stdout.split('\n').slice(0, 2)).toEqual([`Examined: ${examined}`, ''])
  expect(stdout).toMatch(/\n\ncheck +state +advice\nlistener +ok /)
  // It has found nothing to examine.
  expect(code).toBe(1)
})
