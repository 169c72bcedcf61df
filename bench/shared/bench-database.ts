/** The database that a benchmark runs on, and the servers that it starts beside it. */
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Database, migrate } from '@rollcall/database/database'
import { readConfig } from '@rollcall/settings/config'
import { openStorage } from '@rollcall/settings/storage'
import type { Place } from './options.ts'
import { serverEnvironment, temporaryDirectory } from './place.ts'
import { type ServerProcess, startServerProcess, startWithin } from './server-process.ts'
import { SERVERS } from './servers.ts'

export interface BenchDatabase {
  readonly db: Database
  /** The same database, opened by the role that owns it; equal to `db` where one role does both. */
  readonly owner: Database
  /** The variables that name this database to a server. */
  readonly env: NodeJS.ProcessEnv
  /** Starts one of `SERVERS`, with more in its environment. In the smallest run it is started in this process. */
  start(server: keyof typeof SERVERS, more?: NodeJS.ProcessEnv): Promise<ServerProcess>
}

/** Returns the place without its stored database, in which earlier benches may have left waiting callbacks. */
export function withoutStored({ data: _, ...place }: Place): Place {
  return place
}

/** Opens and migrates the database, and takes down what was started when `use` is done. */
export async function withBenchDatabase<Result>(
  place: Place,
  use: (database: BenchDatabase) => Promise<Result>,
): Promise<Result> {
  const here = place.data ?? place['database-url']
  const temporary = here === undefined ? await temporaryDirectory() : undefined
  const env = serverEnvironment(place.data ?? temporary ?? '', place['database-url'])
  const storage = await openStorage({ ...readConfig(env), limits: { ...readConfig(env).limits, statement_timeout: 0 } })
  const started: ServerProcess[] = []
  const profile = place['cpu-prof']
  const execArgv = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`]
  const start: BenchDatabase['start'] = async (name, more = {}) => {
    const path = fileURLToPath(new URL(`../${name}.ts`, import.meta.url))
    const server = place.smallest
      ? await startWithin((await SERVERS[name]()).start, { ...env, ...more, LOG_LEVEL: 'fatal' })
      : await startServerProcess(path, { env: { ...env, ...more }, execArgv })
    started.push(server)
    return server
  }
  try {
    await migrate(storage.owner, storage.db)
    if (storage.owner !== storage.db) await allowCheckpoints(storage)
    return await use({ db: storage.db, owner: storage.owner, env, start })
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
