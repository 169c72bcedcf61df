/** The database that a benchmark runs on, and the processes that it starts beside it. */
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Database, migrate } from '@rollcall/database/database'
import { readConfig } from '@rollcall/settings/config'
import { openStorage } from '@rollcall/settings/storage'
import { serverEnvironment, temporaryDirectory } from './place.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

/** Options of the command line, for `parseArgs`. */
export const PLACE_OPTIONS = {
  data: { type: 'string' },
  'database-url': { type: 'string' },
  'cpu-prof': { type: 'string' },
} as const

/** Their values. */
export type Place = { readonly [option in keyof typeof PLACE_OPTIONS]?: string | undefined }

export interface BenchDatabase {
  readonly db: Database
  /** The same database as the role that owns it; `db` itself where one role does both. */
  readonly owner: Database
  /** Starts a module of `bench/`, told which database, with more in its environment. */
  start(module: string, more?: NodeJS.ProcessEnv): Promise<ServerProcess>
}

/** Opens and migrates the database, and takes down what was started when `use` is done. */
export async function withBenchDatabase<Result>(
  place: Place,
  use: (database: BenchDatabase) => Promise<Result>,
): Promise<Result> {
  const temporary = place.data === undefined ? await temporaryDirectory() : undefined
  const env = serverEnvironment(place.data ?? temporary ?? '', place['database-url'])
  const storage = await openStorage({ ...readConfig(env), limits: { ...readConfig(env).limits, statement_timeout: 0 } })
  const started: ServerProcess[] = []
  const profile = place['cpu-prof']
  const execArgv = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`]
  const start = async (module: string, more: NodeJS.ProcessEnv = {}): Promise<ServerProcess> => {
    const path = fileURLToPath(new URL(module, new URL('..', import.meta.url)))
    const server = await startServerProcess(path, { env: { ...env, ...more }, execArgv })
    started.push(server)
    return server
  }
  try {
    await migrate(storage.owner, storage.db)
    if (storage.owner !== storage.db) await allowCheckpoints(storage)
    return await use({ db: storage.db, owner: storage.owner, start })
  } finally {
    await Promise.all(started.map((server) => server.stop()))
    await storage.close()
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
  }
}

/** A database that was filled is written out before it is measured. */
async function allowCheckpoints({ db, owner }: { readonly db: Database; readonly owner: Database }): Promise<void> {
  const { rows } = await db.pool.query<{ role: string }>('select quote_ident(current_user) as role')
  await owner.pool.query(`grant pg_checkpoint to ${rows[0]?.role}`)
}
