import { readFile, stat } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { openDatabase } from '@rollcall/database/database'
import { countRecords } from '@rollcall/records/records/record-counts'
import { findRegistry } from '@rollcall/records/registries/registries'
import { afterEach, expect, test } from 'vitest'
import { emptyDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { databaseUrl, dataDirectory, printed, rollcall, rollcallJson, start, until } from '../../test/command.ts'
import { STARTING_TEXT } from './demo.ts'

const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function emptyHome(): Promise<string> {
  const { path, remove } = await dataDirectory()
  cleanups.push(remove)
  return path
}

test('on any database it starts without preparation, and completes a first filling that was cut short', async () => {
  const { connection, drop } = await emptyDatabase()
  cleanups.push(drop)
  const home = join(await emptyHome(), 'not-there-yet')
  const env = { ROLLCALL_DATA: home, DATABASE_URL: databaseUrl(connection), ROLLCALL_MASTER_KEY: '' }
  const first = start(['demo'], env)
  // It listens before it fills.
  await until(first, () => (first.output().stderr.includes('"msg":"listening"') ? true : null))
  await first.stop('SIGKILL')
  const ownMasterKey = async () => {
    const path = join(home, 'master-key')
    return { key: await readFile(path, 'utf8'), mode: (await stat(path)).mode & 0o777 }
  }
  const made = await ownMasterKey()
  expect(made.mode).toBe(0o600)

  const second = start(['demo', '--json'], env)
  cleanups.push(() => second.stop())
  await printed(second, /\n/)
  const db = openDatabase(connection)
  cleanups.push(() => db.close())
  for (const namespace of ['civil', 'ibr', 'ess', 'social', 'disability', 'farmer']) {
    const registry = await findRegistry(db, namespace)
    if (registry === null) throw new Error(`no ${namespace}`)
    const counts = Object.values(await countRecords(db, registry))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2_000)
  }
  const summary = JSON.parse(second.output().stdout)
  expect(Object.keys(summary)).toEqual(['base_url', 'token_url', 'demo_file', 'namespaces'])
  expect(await ownMasterKey()).toEqual(made)
  expect(await second.stop()).toMatchObject({ code: 0 })
})

test('it refuses a database with a registry or a participant that is real', async () => {
  const { connection, close } = await testDatabase()
  cleanups.push(close)
  const env = { ROLLCALL_DATA: await emptyHome(), DATABASE_URL: databaseUrl(connection) }
  await rollcallJson(['participant', 'add', 'real.example', '--name', 'Real'], env)
  const { code, stderr } = await rollcall(['demo'], env)
  expect(code).toBe(1)
  expect(stderr).toBe(
    `${STARTING_TEXT}rollcall: this database is not a demo's (it has participant real.example); ` +
      'run rollcall serve, or set ROLLCALL_DATA or DATABASE_URL to another database for the demo\n',
  )
})

test('it listens on this machine only, whatever HOST and ADMIN_HOST say, and a signal while it starts stops it cleanly', async () => {
  const { connection, drop } = await emptyDatabase()
  cleanups.push(drop)
  const running = start(['demo'], {
    ROLLCALL_DATA: await emptyHome(),
    DATABASE_URL: databaseUrl(connection),
    HOST: '0.0.0.0',
    ADMIN_HOST: '0.0.0.0',
  })
  await until(running, () => (running.output().stderr.includes('"msg":"listening"') ? true : null))
  const { code, stdout, stderr } = await running.stop('SIGTERM')
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  for (const variable of ['HOST', 'ADMIN_HOST']) {
    expect(stderr).toContain(`${variable} is 0.0.0.0; the demo listens on 127.0.0.1 only; ROLLCALL_DEMO_REMOTE=1 permits it\n`)
  }
  expect(stderr).toMatch(/"host":"127\.0\.0\.1".*"adminHost":"127\.0\.0\.1"/)
})

test.each(['demo', 'serve'])('%s finds its ports taken before it makes a database', async (command) => {
  const other = createServer()
  cleanups.push(() => new Promise((resolve) => other.close(resolve)))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const port = String((other.address() as AddressInfo).port)
  const home = join(await emptyHome(), 'not-there-yet')
  const env = { ROLLCALL_DATA: home, ROLLCALL_MASTER_KEY: '' }
  for (const ports of [
    { PORT: port, ADMIN_PORT: '0' },
    { PORT: '0', ADMIN_PORT: port },
  ]) {
    const { code, stderr } = await rollcall([command], { ...env, ...ports })
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`PORT ${port} on 127.0.0.1 is taken`) })
    await expect(stat(home)).rejects.toMatchObject({ code: 'ENOENT' })
  }
})
