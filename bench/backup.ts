/**
 * How long a backup and a restore take, beside their floor: a bare COPY of the same tables into a file and back into tables
 * that are there, with their indexes. Rounds of both take turns; medians are compared.
 *
 *     npm run bench -- backup --count 1000000
 */
import { randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { checkBackup } from '@rollcall/backup/backup/read-backup'
import { loadBackup } from '@rollcall/backup/backup/restore'
import { writeBackup } from '@rollcall/backup/backup/write-backup'
import { type Database, migrate, openDatabase } from '@rollcall/database/database'
import { importFile } from '@rollcall/import/import-file'
import { generateMasterKey, masterKeyFromEnvironment } from '@rollcall/keys/master-key'
import { createVault } from '@rollcall/keys/vault'
import { addRegistry } from '@rollcall/records/registries/registries'
import { generateLines } from '@rollcall/synthetic'
import pg, { type PoolClient } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { withBenchDatabase } from './shared/bench-database.ts'
import { readOptions } from './shared/options.ts'
import { temporaryDirectory } from './shared/place.ts'
import { type Row, writeResult } from './shared/results.ts'
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

const NUMBERS = { count: [250_000, 20], rounds: [3, 1] } as const

/** Measures, prints and writes `backup.json`. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const { plan, place } = readOptions(args, NUMBERS)
  const { count, rounds } = plan
  const directory = await temporaryDirectory()
  try {
    return await withBenchDatabase(place, async ({ owner }) => {
      const { host, port, user, password } = new pg.Client(owner.connection)
      const open = (database: string): Database => openDatabase({ host, port, user, password, database, statement_timeout: 0 })
      // A database of its own, which has these records and nothing else.
      return inNewDatabase(owner, open, async (db) => {
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
      })
    })
  } finally {
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

async function inNewDatabase<Result>(
  db: Database,
  open: (database: string) => Database,
  work: (into: Database) => Promise<Result>,
): Promise<Result> {
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
  const source = masterKeyFromEnvironment({ masterKey: MASTER, newMasterKey: undefined })
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

const MASTER = generateMasterKey()

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

async function eachTable({ pool }: Database, work: (client: PoolClient, table: string) => Promise<unknown>): Promise<void> {
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
): Promise<readonly Row[]> {
  const of = (rounds: readonly Round[], member: keyof Round) => median(rounds.map((round) => round[member]))
  const found = (['backup', 'restore'] as const).map((member) => {
    const [seconds, copy_seconds] = [of(ours, member), of(floor, member)]
    return { member, seconds, copy_seconds, ratio: rounded(seconds / copy_seconds, 2) }
  })
  const bytes = { database: databaseBytes, file: of(ours, 'bytes'), copy: of(floor, 'bytes') }
  await writeResult('backup', { kind: KIND, count, rounds: ours.length, bytes, found })
  return found.map(({ member, seconds, copy_seconds, ratio }) => ({
    what: `${member} of ${count} records`,
    ours: `${rounded(seconds, 1)} s`,
    floor: `${rounded(copy_seconds, 1)} s by COPY`,
    figure: `${ratio} of its time`,
    wanted: '',
    passed: true,
  }))
}
