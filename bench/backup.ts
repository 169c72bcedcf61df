/**
 * How long a backup and a restore take, beside their floor: a bare COPY of the same tables into a file and back into tables
 * that are there, with their indexes. Rounds of both take turns; medians are compared.
 *
 *     npx node bench/backup.ts --count 1000000
 */
import { randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { checkBackup } from '@rollcall/backup/backup/read-backup'
import { loadBackup } from '@rollcall/backup/backup/restore'
import { writeBackup } from '@rollcall/backup/backup/write-backup'
import { type Database, migrate, openDatabase } from '@rollcall/database/database'
import { openEmbeddedPostgres } from '@rollcall/database/embedded/postgres'
import { importFile } from '@rollcall/import/import-file'
import { environmentSource, newMasterKey } from '@rollcall/keys/master-key'
import { createVault } from '@rollcall/keys/vault'
import { addRegistry } from '@rollcall/records/registries/registries'
import { generateLines } from '@rollcall/synthetic'
import type { PoolClient, PoolConfig } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { wholeNumber } from './shared/options.ts'
import { writeResult } from './shared/results.ts'
import { median, rounded } from './shared/statistics.ts'

const KIND = 'civil'
const TABLES = ['r1_person', 'r1_person_identifier'] as const

interface Round {
  readonly backup: number
  /** Seconds, with the verification of the whole file. */
  readonly restore: number
  readonly bytes: number
}

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1_000
}

/** Measures, prints and writes `bench/results/backup.json`. */
export async function run(args: readonly string[]): Promise<boolean> {
  const options = { count: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '3' } } as const
  const { values } = parseArgs({ args: [...args], options })
  const [count, rounds] = [wholeNumber('count', values.count), wholeNumber('rounds', values.rounds)]
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-bench-'))
  await chmod(directory, 0o711)
  const postgres = await openEmbeddedPostgres(join(directory, 'data'))
  const open = (database?: string): Database =>
    openDatabase({ ...(postgres.connection as PoolConfig), ...(database && { database }), statement_timeout: 0 })
  const db = open()
  try {
    await migrate(db)
    await fill(db, directory, count)
    const { rows } = await db.pool.query<{ bytes: number }>('select pg_database_size(current_database()) as bytes')
    const databaseBytes = rows[0]?.bytes ?? 0
    console.log(`${count} records of kind ${KIND}, ${(databaseBytes / 1e6).toFixed(0)} MB in the database`)
    const ours: Round[] = []
    const floor: Round[] = []
    for (let round = 1; round <= rounds; round += 1) {
      floor.push(await inNewDatabase(db, open, (into) => copyRound(db, into, join(directory, `copy-${round}`))))
      ours.push(await inNewDatabase(db, open, (into) => backupRound(db, into, join(directory, `backup-${round}`))))
      console.log(`round ${round}: COPY ${told(floor.at(-1))}; Rollcall ${told(ours.at(-1))}`)
    }
    return await report(count, databaseBytes, ours, floor)
  } finally {
    await db.close()
    await postgres.close()
    await rm(directory, { recursive: true, force: true })
  }
}

const told = (round?: Round): string =>
  round === undefined
    ? ''
    : `out ${round.backup.toFixed(1)} s, in ${round.restore.toFixed(1)} s, ${(round.bytes / 1e6).toFixed(0)} MB`

async function fill(db: Database, directory: string, count: number): Promise<void> {
  const file = join(directory, 'records.ndjson')
  const lines = generateLines(KIND, { count, seed: 1 })
  await pipeline(
    Readable.from(lines).map((line: string) => `${line}\n`),
    createWriteStream(file),
  )
  const registry = await addRegistry(db, { namespace: KIND, kind: KIND, sender_id: 'civil.example' })
  await importFile(db, registry, file)
  const { rows } = await db.pool.query<{ count: number }>('select count(*)::integer as count from r1_person')
  if (rows[0]?.count !== count) throw new Error(`${rows[0]?.count} of ${count} records were imported`)
  await rm(file)
  await db.pool.query('vacuum analyze')
}

async function inNewDatabase(
  db: Database,
  open: (database: string) => Database,
  work: (into: Database) => Promise<Round>,
): Promise<Round> {
  const name = `bench_${randomBytes(4).toString('hex')}`
  await db.pool.query('checkpoint')
  await db.pool.query(`create database ${name} template template0 encoding 'UTF8'`)
  const into = open(name)
  try {
    return await work(into)
  } finally {
    await into.close()
    await db.pool.query(`drop database ${name} with (force)`)
  }
}

async function backupRound(db: Database, into: Database, file: string): Promise<Round> {
  const source = environmentSource({ masterKey: MASTER, newMasterKey: undefined })
  const vault = await createVault(db, source)
  const backup = await seconds(() => writeBackup({ db, vault }, file))
  const restore = await seconds(async () => {
    const checked = await checkBackup(file, source)
    await loadBackup({ db: into, owner: into, numbered: [] }, checked)
    await checked.close()
  })
  const { size } = await stat(file)
  await rm(file)
  return { backup, restore, bytes: size }
}

const MASTER = newMasterKey()

/** The tables of records have all but a few kilobytes of this database. */
async function copyRound(db: Database, into: Database, file: string): Promise<Round> {
  await migrate(into)
  await addRegistry(into, { namespace: KIND, kind: KIND, sender_id: 'civil.example' })
  const backup = await seconds(() =>
    eachTable(db, (client, table) =>
      pipeline(client.query(copyTo(`copy ${table} to stdout`)), createWriteStream(`${file}-${table}`, { flush: true })),
    ),
  )
  const restore = await seconds(() =>
    eachTable(into, (client, table) =>
      pipeline(createReadStream(`${file}-${table}`), client.query(copyFrom(`copy ${table} from stdin`))),
    ),
  )
  let bytes = 0
  for (const table of TABLES) {
    bytes += (await stat(`${file}-${table}`)).size
    await rm(`${file}-${table}`)
  }
  return { backup, restore, bytes }
}

async function eachTable(
  { pool }: Database,
  work: (client: PoolClient, table: string) => Promise<unknown>,
): Promise<void> {
  const client = await pool.connect()
  try {
    for (const table of TABLES) await work(client, table)
  } finally {
    client.release()
  }
}

async function report(
  count: number,
  databaseBytes: number,
  ours: readonly Round[],
  floor: readonly Round[],
): Promise<boolean> {
  const of = (rounds: readonly Round[], member: keyof Round) => median(rounds.map((round) => round[member]))
  const result = Object.fromEntries(
    (['backup', 'restore'] as const).map((member) => [
      member,
      {
        seconds: rounded(of(ours, member), 1),
        copy_seconds: rounded(of(floor, member), 1),
        ratio: rounded(of(ours, member) / of(floor, member), 2),
        records_per_second: Math.round(count / of(ours, member)),
      },
    ]),
  )
  const bytes = { database: databaseBytes, file: of(ours, 'bytes'), copy: of(floor, 'bytes') }
  console.log(JSON.stringify(result, null, 2))
  await writeResult('backup', { kind: KIND, count, rounds: ours.length, bytes, ...result })
  return true
}

if (import.meta.main) process.exitCode = (await run(process.argv.slice(2))) ? 0 : 1
