/** Backups and restores by the command, which is killed in the middle; and what servers do with a restored database. */
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, expect, inject, test } from 'vitest'
import { query } from '../../../database/test/statement.ts'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
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
    env: { DATABASE_URL: databaseUrl(application), ROLLCALL_OWNER_DATABASE_URL: databaseUrl(empty.connection) },
  }
}

/** Rows of the backup. */
const MANY = 1_000

/** Every client's connection to a database but this one; none: what was killed there is over. */
const OTHERS = `from pg_stat_activity where datname = current_database()
  and backend_type = 'client backend' and pid <> pg_backend_pid()`

/** Ends what a killed process has left: it would only find out when its lock is free. */
async function endOthers(connection: pg.ClientConfig): Promise<void> {
  await query(connection, `select pg_terminate_backend(pid) ${OTHERS}`)
  await expect.poll(() => query(connection, `select ${OTHERS}`), { timeout: 60_000 }).toEqual([])
}

/** Starts a command that must wait for a lock of this statement, and kills it there. */
async function killedAt(
  connection: pg.ClientConfig,
  lock: string,
  command: () => ReturnType<typeof start>,
): Promise<Awaited<ReturnType<typeof start>['ended']>> {
  const holder = new pg.Client(connection)
  holder.on('error', () => undefined)
  await holder.connect()
  await holder.query('begin')
  await holder.query(lock)
  const running = command()
  await until(running, async () => {
    const waiting = await query(connection, `select ${OTHERS} and wait_event_type = 'Lock' and query not like 'autovacuum:%'`)
    return waiting.length > 0 ? true : null
  })
  running.process.kill('SIGKILL')
  const ended = await running.ended
  await endOthers(connection)
  await holder.end().catch(() => undefined)
  return ended
}

test('a backup that is killed leaves no file with its name, and is run again', async () => {
  await rollcallJson(['registry', 'add', 'civil', '--sender-id', 'civil.example'], env)
  await rollcallJson(['participant', 'add', 'spmis.example', '--name', 'SPMIS'], env)
  await query(
    database.owner,
    `insert into r1_person (primary_identifier, document)
      select number::text, repeat(md5(number::text), 20) from generate_series(1, ${MANY}) as number`,
  )
  // Who reads these rows waits for the lock: the file is begun by then.
  const waits = [
    'alter table r1_person enable row level security, force row level security',
    'create policy waits on r1_person using (pg_advisory_xact_lock_shared(1)::text is not null)',
  ]
  for (const statement of waits) await query(database.owner, statement)
  await killedAt(database.owner, 'select pg_advisory_xact_lock(1)', () => start(['backup', file], env))
  const after = [
    'drop policy waits on r1_person',
    'alter table r1_person no force row level security, disable row level security',
  ]
  for (const statement of after) await query(database.owner, statement)
  const names = await readdir(home.path)
  expect(names.filter((name) => name.endsWith('.part'))).toHaveLength(1)
  expect(names).not.toContain('one.backup')
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
  // Tables may be there as long as they are empty. It waits where it changes this one, in the transaction of the rows.
  await rollcall(['migrate'], into.env)
  const killed = await killedAt(into.owner, 'lock table participant in access share mode', () => start(words, into.env))
  expect(killed).toMatchObject({ stdout: '' })
  expect(await query(into.owner, 'select loaded_at from restoration')).toEqual([{ loaded_at: null }])
  expect(await rollcall(['serve'], into.env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('a restore of this database has begun and not ended: run rollcall restore again'),
  })
  expect(await rollcallJson(words, into.env)).toMatchObject({ journal: null, left_out: [] })
  expect(await query(into.owner, 'select count(*)::int as count from r1_person')).toEqual([{ count: MANY }])
  expect(await rollcall(words, into.env)).toMatchObject({ code: 1, stderr: expect.stringContaining('the database is not empty') })

  const serving = start(['serve'], into.env)
  await until(serving, () => (serving.output().stdout.includes('Rollcall listens') ? true : null))
  await until(serving, () => (serving.output().stderr.includes('outgoing messages are held') ? true : null))
  expect((await rollcall(['restore', 'release'], into.env)).stdout).toBe('nothing waits to be sent\nreleased\n')
  await until(serving, () => (serving.output().stderr.includes('outgoing messages are released') ? true : null))
  expect(await serving.stop('SIGINT')).toMatchObject({ code: 0 })
})

test('a server does not start on a database that is older than its journal, until it is adopted', async () => {
  const journaled = { ...env, ROLLCALL_JOURNAL: journal }
  await rollcallJson(['participant', 'disable', 'spmis.example'], journaled)
  await rollcallJson(['participant', 'enable', 'spmis.example'], journaled)
  await rollcallJson(['participant', 'disable', 'spmis.example'], journaled)
  // As point-in-time recovery would: the state of before.
  await query(database.owner, 'update journal_head set sequence = 0, begun = 0, digest = decode(repeat($1, 64), $2)', [
    '0',
    'hex',
  ])
  await query(database.owner, `update participant set status = 'active'`)
  expect(await rollcall(['serve'], journaled)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Run rollcall restore adopt (docs/backup.md)'),
  })
  const asOwner = { ...journaled, ROLLCALL_OWNER_DATABASE_URL: databaseUrl(database.owner) }
  expect(await rollcallJson(['restore', 'adopt', '--journal', journal], asOwner)).toMatchObject({ journal: 2 })
  expect(await query(database.owner, 'select status from participant')).toEqual([{ status: 'disabled' }])
  // It is a copy now, which begins a file of its own.
  expect(await rollcall(['serve'], journaled)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('was written by another copy of this database'),
  })
  await rename(journal, `${journal}.before`)
  const serving = start(['serve', '--role', 'http'], journaled)
  await until(serving, () => (serving.output().stdout.includes('Rollcall listens') ? true : null))
  expect(await serving.stop('SIGINT')).toMatchObject({ code: 0 })
})

test('a restore with an act that cannot be done ends when that is accepted, and says what is not done', async () => {
  const [backup, acts] = [join(home.path, 'accepted.backup'), join(home.path, 'accepted.journal')]
  await rollcallJson(['backup', backup], env)
  const journaled = { ...env, ROLLCALL_JOURNAL: acts }
  await rollcallJson(['registry', 'add', 'civil-later', '--sender-id', 'later.example'], journaled)
  const person = ['civil-later', 'UIN', 'SHELTERED-77', '--category', 'shelter', '--reason', 'court order']
  await rollcallJson(['record', 'protect', ...person], journaled)
  const into = await target()
  const words = ['restore', backup, '--journal', acts]
  expect(await rollcall(words, into.env)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /acts of the journal could not be done: person_protected 1 \(.*later.*\)\. Servers do not start\. .*--accept-undone/s,
    ),
  })
  expect(await rollcall(['serve'], into.env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the journal is not applied yet'),
  })
  const done = await rollcall([...words, '--accept-undone'], into.env)
  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/NOT DONE: person_protected 1 \(.*later/) })
  expect(done.stdout + done.stderr).not.toContain('SHELTERED-77')
  const serving = start(['serve', '--role', 'http'], into.env)
  await until(serving, () => (serving.output().stdout.includes('Rollcall listens') ? true : null))
  expect(await serving.stop('SIGINT')).toMatchObject({ code: 0 })
})
