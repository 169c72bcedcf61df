import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedPostgres } from '@rollcall/database/embedded/postgres'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { makeTemplates } from '../../keys/test/postgres.ts'

/** The address and the credentials of the one PostgreSQL of a test run. */
export interface TestServer {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The connection of the owner, a superuser. */
    postgres: TestServer
    application: TestServer
    masterKey: string
  }
}

/** Starts one embedded PostgreSQL for all lanes of a run, with databases to copy, and stops it at the end. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const run = project.vitest.getRootProject()
  // The lane before this one has started it.
  if ('postgres' in run.getProvidedContext()) return undefined
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-test-'))
  // mkdtemp makes it 0700; as root PostgreSQL runs as somebody else, who has to get through.
  await chmod(directory, 0o711)
  const postgres = await openEmbeddedPostgres(directory)
  const remove = () => removeNow(directory)
  // Before what is left behind is looked for.
  process.prependOnceListener('exit', remove)
  const connection = postgres.connection as TestServer
  const client = new pg.Client(connection)
  await client.connect()
  const application = postgres.application as TestServer
  // Many connect, and nobody guesses.
  await client.query('set scram_iterations = 1')
  for (const { user, password } of [connection, application]) {
    // Test data need not survive a power cut, and there is room for its log.
    for (const setting of ['synchronous_commit', 'wal_compression']) await client.query(`alter role ${user} set ${setting} = off`)
    await client.query(`alter role ${user} password ${client.escapeLiteral(password)}`)
  }
  await client.end()
  const masterKey = randomBytes(32).toString('base64')
  await makeTemplates(connection, application, masterKey)
  run.provide('masterKey', masterKey)
  run.provide('postgres', connection)
  run.provide('application', application)
  return async () => {
    process.off('exit', remove)
    await postgres.close()
    await rm(directory, { recursive: true, force: true })
  }
}

/** Ctrl-C ends a run without its teardown, and what is in memory would stay there. */
function removeNow(directory: string): void {
  const [pid] = readFileSync(join(directory, 'postgres/data/postmaster.pid'), 'utf8').split('\n')
  process.kill(Number(pid), 'SIGQUIT')
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}
