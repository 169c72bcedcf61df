import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { isRoot, query, startedDirectory, temporaryDirectory } from '../../test/embedded.ts'
import { hasErrorCode } from './files.ts'
import { openEmbeddedPostgres } from './postgres.ts'

test('the first start makes a UTF8 database with locale C, a later one finds it within 2 seconds', async () => {
  const directory = await temporaryDirectory()
  const first = await openEmbeddedPostgres(directory)
  const [database] = await query(
    first.connection,
    `select current_database() as name, pg_encoding_to_char(encoding) as encoding, datcollate, datctype
       from pg_database where datname = current_database()`,
  )
  expect(database).toEqual({ name: 'rollcall', encoding: 'UTF8', datcollate: 'C', datctype: 'C' })
  await query(first.connection, 'create table kept as select $1::text as word', ['ключ'])
  await first.close()
  await first.close()
  await expect(query(first.connection, 'select 1')).rejects.toThrow(/ENOENT/)

  const second = await openEmbeddedPostgres(directory)
  expect(second.connection).toEqual(first.connection)
  expect(await query(second.connection, 'select word from kept')).toEqual([{ word: 'ключ' }])
  await second.close()
})

test('nobody else gets in: file modes, password, no network', async () => {
  const directory = await startedDirectory()
  const { connection, close } = await openEmbeddedPostgres(directory)
  const mode = async (path: string) => ((await stat(join(directory, path))).mode & 0o777).toString(8)
  expect(await mode('postgres')).toBe('700')
  expect(await mode('postgres/data')).toBe('700')
  expect(await mode('postgres/password')).toBe('600')
  expect(await mode('postgres/postgres.log')).toBe('600')
  expect(await mode('postgres/.s.PGSQL.5432')).toBe('700')
  if (isRoot) expect((await stat(join(directory, 'postgres/data'))).uid).not.toBe(0)

  const password = (await readFile(join(directory, 'postgres/password'), 'utf8')).trim()
  expect(Buffer.from(password, 'base64url')).toHaveLength(32)
  expect(connection).toMatchObject({ user: 'rollcall', database: 'rollcall', password })
  expect(connection.host?.startsWith('/')).toBe(true)
  await expect(query({ ...connection, password: 'guess' }, 'select 1')).rejects.toMatchObject({
    code: '28P01',
    message: expect.stringMatching(/password authentication failed/),
  })
  const rules = await query(connection, 'select distinct auth_method from pg_hba_file_rules')
  expect(rules).toEqual([{ auth_method: 'scram-sha-256' }])
  const [secret] = await query(connection, 'select rolpassword from pg_authid where rolname = current_user')
  expect(secret?.rolpassword).toMatch(/^SCRAM-SHA-256\$/)
  await close()
})

test('it is set to keep what was acknowledged, to listen on no network, and to write no statements', async () => {
  const { connection, close } = await openEmbeddedPostgres(await startedDirectory())
  const promised = {
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    listen_addresses: '',
    log_statement: 'none',
    log_min_error_statement: 'panic',
    log_min_duration_statement: '-1',
    log_parameter_max_length: '0',
    log_parameter_max_length_on_error: '0',
    log_error_verbosity: 'terse',
    max_connections: '100',
    shared_buffers: '256MB',
    max_wal_size: '2GB',
  }
  // An administrator's ALTER SYSTEM does not weaken it.
  await query(connection, 'alter system set fsync = off')
  await query(connection, 'select pg_reload_conf()')
  const rows = await query(connection, 'select name, current_setting(name) as value from unnest($1::text[]) name', [
    Object.keys(promised),
  ])
  expect(Object.fromEntries(rows.map(({ name, value }) => [name, value]))).toEqual(promised)
  await close()
})

test('neither statements nor parameters reach the log, not even when they fail or PostgreSQL crashes', async () => {
  const directory = await startedDirectory()
  const { connection, close } = await openEmbeddedPostgres(directory)
  await query(connection, 'create table people (uin text primary key, born date)')
  await query(connection, 'insert into people values ($1)', ['SECRET-UIN'])
  for (const [text, values, code] of [
    ['insert into people values ($1)', ['SECRET-UIN'], '23505'],
    ['select $1::date', ['SECRET-DAY'], '22007'],
    [`select 'SECRET-LITERAL'::int`, [], '22P02'],
    [`select SECRET_SYNTAX from from`, [], '42601'],
    [`do $$ begin raise warning 'SECRET-WARNING'; end $$; select 1/0`, [], '22012'],
  ] as const) {
    await expect(query(connection, text, [...values])).rejects.toMatchObject({ code })
  }
  // A backend that dies: PostgreSQL says so, and would say what it was doing.
  const victim = new pg.Client(connection)
  victim.on('error', () => undefined)
  await victim.connect()
  const { rows } = await victim.query<{ pid: number }>('select pg_backend_pid() as pid')
  const asleep = victim.query(`select pg_sleep(60), 'SECRET-RUNNING'`).catch((error: unknown) => error)
  process.kill(Number(rows[0]?.pid), 'SIGKILL')
  expect(await asleep).toBeInstanceOf(Error)
  await victim.end().catch(() => undefined)

  const log = join(directory, 'postgres/postgres.log')
  await expect.poll(() => readFile(log, 'utf8')).toMatch(/terminated by signal 9/)
  // It recovers by itself, and so does our use of it.
  await expect.poll(() => query(connection, 'select uin from people').catch(passing)).toEqual([{ uin: 'SECRET-UIN' }])
  await close()
  expect(await readFile(log, 'utf8')).toMatch(/database system is shut down\n$/)
  expect(await readFile(log, 'utf8')).not.toMatch(/SECRET|people|pg_sleep/i)
})

function passing(error: unknown): string {
  if (hasErrorCode(error, '57P03', '57P02', 'ECONNREFUSED', 'ECONNRESET', 'ENOENT')) return 'not yet'
  if (error instanceof Error && /terminated/.test(error.message)) return 'not yet'
  throw error
}
