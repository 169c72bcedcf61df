/** A database for the commands of one test file, and a directory for their files. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { startedDatabase, type TestDatabase } from '../../keys/test/postgres.ts'
import { databaseUrl, dataDirectory, rollcallJson } from './command.ts'

export interface CommandDatabase {
  readonly database: TestDatabase
  /** The variables that give a command this database. */
  readonly env: { readonly DATABASE_URL: string }
  readonly home: Awaited<ReturnType<typeof dataDirectory>>
  /** Imports these documents into the registry `civil`. */
  importPeople(people: readonly object[]): Promise<void>
}

/** To be awaited at the top level of a test file: a database in which a server has started, dropped after its tests. */
export async function commandDatabase(): Promise<CommandDatabase> {
  const database = await startedDatabase()
  const home = await dataDirectory()
  afterAll(async () => {
    await database.close()
    await home.remove()
  })
  const env = { DATABASE_URL: databaseUrl(database.connection) }
  return {
    database,
    env,
    home,
    async importPeople(people) {
      const file = join(home.path, 'people.json')
      await writeFile(file, JSON.stringify(people))
      await rollcallJson(['import', 'civil', file], env)
    },
  }
}
