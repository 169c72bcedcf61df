/** The configuration and the database of a command. */
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Config,
  type Database,
  embeddedLayout,
  migrate,
  openStorage,
  readConfig,
} from '@rollcall/server'
import { CommandError } from './failure.ts'

/** @throws CommandError that names the variable */
export function configuration(): Config {
  try {
    return readConfig(process.env)
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error))
  }
}

/** Where the embedded database lies, or lies once there is one. */
export const embeddedFiles = ({ dataDirectory }: Config) => embeddedLayout(join(dataDirectory, 'postgres'))

/** Whether there is a database to look at, without making one. */
export async function hasDatabase(config: Config): Promise<boolean> {
  if (config.databaseUrl !== undefined) return true
  return lstat(embeddedFiles(config).home).then(
    () => true,
    () => false,
  )
}

/**
 * Opens the database, brings it to this version's tables, works with it and closes it again. Beside a running
 * server that is the server's database.
 * @param options.create whether a new embedded database is wanted where there is none
 * @throws CommandError there is none
 */
export async function withDatabase<Result>(
  options: { readonly create: boolean },
  work: (db: Database, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = configuration()
  if (!options.create && !(await hasDatabase(config))) {
    throw new CommandError(
      `there is no database in ${config.dataDirectory} yet; set ROLLCALL_DATA or DATABASE_URL, or make one with rollcall migrate`,
    )
  }
  const storage = await openStorage(config)
  try {
    await migrate(storage.db)
    return await work(storage.db, config)
  } finally {
    await storage.close()
  }
}
