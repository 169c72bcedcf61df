/** Backups and restores by the command, which is killed in the middle; and what servers do with a restored database. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'
import { emptyDatabase } from '../../../server/test/postgres.ts'
import { query } from '../../../server/test/statement.ts'
import { databaseUrl, rollcall, rollcallJson, start, until } from '../../test/command.ts'
import { commandDatabase } from '../../test/command-database.ts'

const { database, env, home } = await commandDatabase()
const file = join(home.path, 'one.backup')
const journal = join(home.path, 'journal')

const made: Awaited<ReturnType<typeof emptyDatabase>>[] = []
afterAll(() => Promise.all(made.map(({ drop }) => drop())))

/** An empty database with both roles. */
async function target() {
  const empty = await emptyDatabase()
  made.push(empty)
  const application = { ...inject('application'), database: empty.connection.database }
  return {
    owner: empty.connection,
    env: {
      DATABASE_URL: databaseUrl(application),
      ROLLCALL_OWNER_DATABASE_URL: databaseUrl(empty.connection),
    },
  }
}

/** Enough that a backup and a restore take a while. */
const MANY = 150_000

test('a backup that is killed leaves no file with its name, and is run again', async () => {
  await rollcallJson(['registry', 'add', 'civil', '--sender-id', 'civil.example'], env)
  await rollcallJson(['participant', 'add', 'spmis.example', '--name', 'SPMIS'], env)
  await query(
    database.owner,
    `insert into r1_person (primary_identifier, document)
      select number::text, repeat(md5(number::text), 20) from generate_series(1, ${MANY}) as number`,
  )
  const running = start(['backup', file], env)
  await expect
    .poll(async () => (await readdir(home.path)).some((name) => name.endsWith('.part')), {
      interval: 5,
      timeout: 60_000,
    })
    .toBe(true)
  running.process.kill('SIGKILL')
  await running.ended
  expect((await readdir(home.path)).filter((name) => name === 'one.backup')).toEqual([])
  const wrote = await rollcallJson(['backup', file], env)
  expect(await rollcallJson(['backup', 'check', file], env)).toEqual(wrote)
  expect(await rollcall(['backup', file], env)).toMatchObject({
    code: 1,
    stderr: `rollcall: ${file}: is there already; a backup overwrites nothing\n`,
  })
})

test('a restore that is killed is run again; no server starts in between, and nothing is sent before it is released', async () => {
  const into = await target()
  const words = ['restore', file, '--without-journal', 'a test']
  const running = start(words, into.env)
  const begun = async () =>
    (await query(into.owner, `select to_regclass('restoration') is not null as found`))[0]?.found === true &&
    (await query(into.owner, 'select from restoration')).length > 0
  await expect.poll(begun, { interval: 10, timeout: 120_000 }).toBe(true)
  running.process.kill('SIGKILL')
  expect(await running.ended).toMatchObject({ stdout: '' })
  expect(await rollcall(['serve'], into.env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'a restore of this database has begun and not ended: run rollcall restore again',
    ),
  })
  expect(await rollcallJson(words, into.env)).toMatchObject({ journal: null, left_out: [] })
  expect(await query(into.owner, 'select count(*)::int as count from r1_person')).toEqual([{ count: MANY }])
  expect(await rollcall(words, into.env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the database is not empty'),
  })

  const serving = start(['serve'], into.env)
  await until(serving, () => (serving.output().stdout.includes('Rollcall listens') ? true : null))
  await until(serving, () => (serving.output().stderr.includes('outgoing messages are held') ? true : null))
  expect((await rollcall(['restore', 'release'], into.env)).stdout).toBe(
    'nothing waits to be sent\nreleased\n',
  )
  await until(serving, () =>
    serving.output().stderr.includes('outgoing messages are released') ? true : null,
  )
  expect(await serving.stop('SIGINT')).toMatchObject({ code: 0 })
})

test('a server does not start on a database that is older than its journal, until it is adopted', async () => {
  const journaled = { ...env, ROLLCALL_JOURNAL: journal }
  await rollcallJson(['participant', 'disable', 'spmis.example'], journaled)
  await rollcallJson(['participant', 'enable', 'spmis.example'], journaled)
  await rollcallJson(['participant', 'disable', 'spmis.example'], journaled)
  // As point-in-time recovery would: the state of before.
  await query(
    database.owner,
    'update journal_head set sequence = 0, begun = 0, digest = decode(repeat($1, 64), $2)',
    ['0', 'hex'],
  )
  await query(database.owner, `update participant set status = 'active'`)
  expect(await rollcall(['serve'], journaled)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Run rollcall restore adopt (docs/backup.md)'),
  })
  const asOwner = { ...journaled, ROLLCALL_OWNER_DATABASE_URL: databaseUrl(database.owner) }
  expect(await rollcallJson(['restore', 'adopt', '--journal', journal], asOwner)).toMatchObject({
    journal: 2,
  })
  expect(await query(database.owner, 'select status from participant')).toEqual([{ status: 'disabled' }])
  const serving = start(['serve', '--role', 'http'], journaled)
  await until(serving, () => (serving.output().stdout.includes('Rollcall listens') ? true : null))
  expect(await serving.stop('SIGINT')).toMatchObject({ code: 0 })
})
