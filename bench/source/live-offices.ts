/** The office's database in each engine that is read live, and the way in which a hand asks it. */

import { rm } from 'node:fs/promises'
import { type Connection, createConnection, createPool } from 'mysql2/promise'
import pg from 'pg'
import { startMariadb } from '../../packages/source/test/mariadb-setup.ts'
import { findProgram } from '../../test/programs.ts'
import type { BenchDatabase } from '../shared/bench-database.ts'
import { temporaryDirectory } from '../shared/place.ts'
import { addressOf } from '../source.ts'
import { LIVE, mariadbTables, SCHEMA, tables } from './office.ts'

/** A condition that a hand has written, with the places of its parameters as the engine writes them. */
export interface HandQuestion {
  readonly name: string
  readonly where: string
  readonly values: readonly string[]
}

export interface HandRow {
  readonly national_no: string
  readonly family_name: string
  readonly given_name: string
  readonly gender: number
  readonly born: string
  readonly births: readonly (readonly [birth_no: string, place: string])[]
}

export type EngineName = 'PostgreSQL' | 'MariaDB'

export interface LiveOffice {
  readonly name: EngineName
  /** The source file, whose address is in `OFFICE`. */
  readonly source: object
  readonly address: string
  hand(question: HandQuestion): Promise<readonly HandRow[]>
  close(): Promise<void>
}

const byHand = (born: string, births: string, where: string): string =>
  `select national_no, family_name, given_name, gender, ${born} as born,
    (select ${births} from ${SCHEMA}.birth where birth.person_no = person.person_no) as births
  from ${SCHEMA}.person where ${where} order by person_no limit 1000`

/** Both sides connect as the same role, by the address of the pool that has made the tables. */
export async function postgresqlOffice({ owner }: BenchDatabase, records: number): Promise<LiveOffice> {
  await owner.pool.query(tables(records))
  const address = addressOf(owner.pool.options)
  const options = '-c default_transaction_read_only=on -c statement_timeout=2s'
  const pool = new pg.Pool({ connectionString: address, options })
  return {
    name: 'PostgreSQL',
    source: LIVE,
    address,
    async hand({ name, where, values }) {
      const text = byHand('born::text', 'json_agg(json_build_array(birth_no, place))', where)
      return (await pool.query<HandRow>({ name, text, values: [...values] })).rows
    },
    async close() {
      await pool.end()
      await owner.pool.query(`drop schema ${SCHEMA} cascade`)
    },
  }
}

/** @returns null: MariaDB is not installed */
export async function mariadbOffice(records: number): Promise<LiveOffice | null> {
  const server = await mariadbServer()
  if (server === null) return null
  const admin = await createConnection(optionsOf(new URL(server.address)))
  for (const statement of mariadbTables(records).split(';')) await admin.query(statement)
  const url = new URL(server.address)
  url.pathname = `/${SCHEMA}`
  const pool = createPool({ ...optionsOf(url), connectionLimit: 1, jsonStrings: true })
  pool.pool.on('connection', (connection: Connection) => {
    connection.query('set session transaction read only')
    connection.query('set session max_statement_time = 2')
  })
  return {
    name: 'MariaDB',
    source: { ...LIVE, engine: 'mariadb' },
    address: url.href,
    async hand({ where, values }) {
      const text = byHand('cast(born as char)', 'json_arrayagg(json_array(birth_no, place))', where)
      const [rows] = await pool.execute(text, [...values])
      return (rows as (HandRow & { readonly births: string })[]).map((row) => ({ ...row, births: JSON.parse(row.births) }))
    },
    async close() {
      await pool.end()
      await admin.query(`drop database ${SCHEMA}`)
      await admin.end()
      await server.stop()
    },
  }
}

/** The connection of an address, which may name a socket. */
const optionsOf = (url: URL) => ({
  user: decodeURIComponent(url.username),
  password: decodeURIComponent(url.password),
  database: url.pathname.slice(1),
  ...(url.searchParams.has('socket')
    ? { socketPath: url.searchParams.get('socket') ?? '' }
    : { host: url.hostname, port: Number(url.port || 3306) }),
})

interface MariadbServer {
  /** The address of an account that may make a database. */
  readonly address: string
  stop(): Promise<void>
}

/** The server at the address in `BENCH_MARIADB`, or our own with room for all tables; null: it is not installed. */
async function mariadbServer(): Promise<MariadbServer | null> {
  const { BENCH_MARIADB: address } = process.env
  if (address !== undefined) return { address, stop: async () => undefined }
  const program = findProgram('mariadbd')
  if (program === null) return null
  const directory = await temporaryDirectory()
  const { socketPath, stop } = await startMariadb(program, directory, ['--skip-networking', '--innodb-buffer-pool-size=512M'])
  return {
    address: `mariadb://root@localhost/?socket=${encodeURIComponent(socketPath)}`,
    async stop() {
      await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
