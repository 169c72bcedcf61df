/** Where a benchmark keeps its database, and what a server is told of it. */
import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** Readable by the user that the embedded PostgreSQL runs as when we are root. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-bench-'))
  await chmod(directory, 0o711)
  return directory
}

/** Always the same: a database that is kept is measured again. It guards nothing but keys of a benchmark. */
const ROLLCALL_MASTER_KEY = Buffer.alloc(32, 'bench').toString('base64')

/** The environment of a server: nothing of ours that concerns servers, so that both run with the defaults. */
export function serverEnvironment(data: string, databaseUrl: string | undefined): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env
  const database = databaseUrl === undefined ? { ROLLCALL_DATA: resolve(data, 'data') } : { DATABASE_URL: databaseUrl }
  const address = { HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0' }
  return { PATH, HOME, ...address, LOG_LEVEL: 'warn', ROLLCALL_MASTER_KEY, ...database }
}
