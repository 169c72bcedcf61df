/** A PostgreSQL whose log can be followed, and a civil office in it. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '@rollcall/database/embedded/postgres'
import pg from 'pg'
import { copyCluster } from '../../database/test/embedded.ts'
import { officeSource } from './office.ts'

const TABLES = ['person', 'birth', 'marriage', 'death'].map((name) => `office.${name}`)

export interface LoggedPostgres {
  readonly directory: string
  readonly connection: pg.ClientConfig
  /** Runs a statement as the owner. */
  run(statement: string): Promise<void>
  /** Does work while the server is a standby that receives nothing. Connections to it are ended before and after. */
  asStandby<Result>(work: () => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

export async function loggedPostgres(): Promise<LoggedPostgres> {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-office-'))
  await chmod(directory, 0o711)
  await copyCluster(directory)
  let postgres: EmbeddedPostgres = await openEmbeddedPostgres(directory)
  const query = async (statement: string): Promise<pg.QueryResult> => {
    const client = new pg.Client(postgres.connection)
    await client.connect()
    return client.query(statement).finally(() => client.end())
  }
  const run = async (statement: string): Promise<void> => void (await query(statement))
  const restart = async (): Promise<void> => {
    await postgres.close()
    postgres = await openEmbeddedPostgres(directory)
  }
  await run('alter system set wal_level = logical')
  await restart()
  return {
    directory,
    connection: postgres.connection,
    run,
    async asStandby(work) {
      const { rows } = await query('show data_directory')
      const signal = join(rows[0].data_directory, 'standby.signal')
      await writeFile(signal, '')
      await restart()
      try {
        return await work()
      } finally {
        await rm(signal)
        await restart()
      }
    },
    async close() {
      await postgres.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Does what the administrator of the source must do. @param reader the address of the account that reads */
export async function publishOffice(office: pg.Client, reader: string): Promise<void> {
  await office.query(`create publication rollcall for table ${TABLES.join(', ')}`)
  for (const table of TABLES.slice(1)) await office.query(`alter table ${table} replica identity full`)
  await office.query(`alter role ${decodeURIComponent(new URL(reader).username)} replication`)
}

/** The source file of a copy that follows the log; its address is in `READER`. */
export function loggedSource(more: object = {}) {
  const { records, ...file } = officeSource({ env: 'READER' }) as { records: { Person: object } }
  const { compare: _, ...person } = records.Person as { compare: object }
  return { ...file, way: 'mirror', follow: 'logical', records: { Person: person }, ...more }
}
