/**
 * A copy of a registry office's database on a PostgreSQL of its own: how long all records take beside an import of the same
 * records from NDJSON, and how long after its commit a change is found here while the office makes many.
 */

import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { openEmbeddedPostgres } from '@rollcall/database/embedded/postgres'
import { quoteName } from '@rollcall/database/names'
import { importFile } from '@rollcall/import/import-file'
import { recordTable } from '@rollcall/records/records/record-tables'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { addRegistry, requireRegistry } from '@rollcall/records/registries/registries'
import { startFollowers } from '@rollcall/source/mirror/followers'
import { findMirror } from '@rollcall/source/store/mirrors'
import pg from 'pg'
import type { BenchDatabase } from '../shared/bench-database.ts'
import { temporaryDirectory } from '../shared/place.ts'
import { type Row, ratioRow } from '../shared/results.ts'
import { median, percentile, rounded } from '../shared/statistics.ts'
import { addressOf, type SourcePlan } from '../source.ts'
import { MIRRORS, SCHEMA, tables } from './office.ts'

/** The least share of the rate of an import. */
const SNAPSHOT_BAR = 0.6
/** Milliseconds, for 99 of 100 changes. */
const LAG_BAR = 1_000
/** Milliseconds between two looks for what was found here. */
const LOOK = 20

type Way = keyof typeof MIRRORS

export async function mirror(
  { db }: BenchDatabase,
  plan: SourcePlan,
): Promise<{ readonly rows: readonly Row[]; readonly result: object }> {
  return withOffice(plan.mirrored, async (office, address) => {
    const snapshot = await snapshots(db, office, address, plan)
    const rows: Row[] = [snapshot.row]
    const lags = []
    for (const way of Object.keys(MIRRORS) as Way[]) {
      const lag = await withMirror(db, office, address, way, ({ registry }) => changes(db, address, registry, plan))
      lags.push({ way, ...lag })
      const { p50_ms, p99_ms, per_second } = lag
      rows.push({
        what: `source, mirror by ${way}, until a change of ${plan.mirrored} records is found`,
        ours: `p50 ${p50_ms} ms at ${per_second} changes/s`,
        floor: '',
        figure: `p99 ${p99_ms} ms`,
        wanted: `under ${LAG_BAR} ms`,
        passed: p99_ms < LAG_BAR,
      })
    }
    return { rows, result: { snapshot: snapshot.result, lags } }
  })
}

/** An office on a server whose log can be followed. */
async function withOffice<Result>(
  records: number,
  work: (office: pg.Client, address: string) => Promise<Result>,
): Promise<Result> {
  const directory = await temporaryDirectory()
  let postgres = await openEmbeddedPostgres(directory)
  let office: pg.Client | undefined
  try {
    for (const setting of [`wal_level = logical`, `max_slot_wal_keep_size = '10GB'`]) {
      const client = await connected(postgres.connection)
      await client.query(`alter system set ${setting}`).finally(() => client.end())
    }
    await postgres.close()
    postgres = await openEmbeddedPostgres(directory)
    office = await connected(postgres.connection)
    await office.query(tables(records))
    for (const table of ['person', 'birth']) {
      await office.query(`alter table ${SCHEMA}.${table} add column changed_at timestamptz not null default now();
        create index on ${SCHEMA}.${table} (changed_at)`)
    }
    await office.query(`alter table ${SCHEMA}.birth replica identity full;
      create publication rollcall for table ${SCHEMA}.person, ${SCHEMA}.birth`)
    return await work(office, addressOf(postgres.connection))
  } finally {
    await office?.end()
    await postgres.close()
    await rm(directory, { recursive: true, force: true })
  }
}

async function connected(connection: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(connection)
  await client.connect()
  return client
}

/** A mirror whose records are all here. */
interface Copied {
  readonly registry: Registry
  readonly seconds: number
}

async function withMirror<Result>(
  db: Database,
  office: pg.Client,
  address: string,
  way: Way,
  work: (copied: Copied) => Promise<Result>,
): Promise<Result> {
  const namespace = `bench-${randomUUID()}`
  await office.query('checkpoint')
  const start = performance.now()
  const { id } = await addRegistry(db, { namespace, kind: 'civil', sender_id: `${namespace}.example`, source: MIRRORS[way] })
  const failures: string[] = []
  const following = startFollowers({
    db,
    env: { OFFICE: address },
    limits: DEFAULT_LIMITS,
    log: { warn: (facts, message) => failures.push(`${message} ${JSON.stringify(facts)}`), info: () => undefined },
    registries: async () => [await requireRegistry(db, namespace)],
  })
  try {
    while ((await findMirror(db, id))?.compared_at == null) {
      if (failures.length > 0) throw new Error(failures.join('; '))
      await sleep(LOOK)
    }
    const seconds = (performance.now() - start) / 1_000
    return await work({ registry: await requireRegistry(db, namespace), seconds })
  } finally {
    await following.stop()
    // The server notices a moment later that nobody reads the log any more.
    await office.query('select pg_terminate_backend(active_pid, 10000) from pg_replication_slots where active')
    await office.query('select pg_drop_replication_slot(slot_name) from pg_replication_slots')
  }
}

async function snapshots(
  db: Database,
  office: pg.Client,
  address: string,
  { mirrored, rounds }: SourcePlan,
): Promise<{ readonly row: Row; readonly result: object }> {
  const directory = await temporaryDirectory()
  const path = join(directory, 'records.ndjson')
  const ours: number[] = []
  const floor: number[] = []
  try {
    for (let round = 0; round < rounds; round += 1) {
      await withMirror(db, office, address, 'logical', async ({ registry, seconds }) => {
        ours.push(mirrored / seconds)
        if (round === 0) await writeFile(path, await documentsOf(db, registry))
      })
      floor.push(await imported(db, path, mirrored))
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  const [own, other] = [Math.round(median(ours)), Math.round(median(floor))]
  const ratio = rounded(median(ours.map((rate, round) => rate / (floor[round] ?? Number.NaN))), 2)
  const what = `source, mirror, all of ${mirrored} records`
  return {
    row: ratioRow(what, ratio, SNAPSHOT_BAR, `${own} records/s`, `${other} lines/s by import`),
    result: { ratio, bar: SNAPSHOT_BAR, ours, floor },
  }
}

async function documentsOf(db: Database, registry: Registry): Promise<string> {
  const [recordType] = registry.kind.record_types
  const reader = recordsOf(db, registry).within(db.pool)
  const lines: string[] = []
  for (let after: string | null = null; ; ) {
    const asked = { recordType, predicate: null, since: null, after, limit: 1_000 }
    const page = await reader.page(registry, asked)
    for (const { document } of page) lines.push(`${document}\n`)
    after = page.at(-1)?.id ?? null
    if (after === null) return lines.join('')
  }
}

/** Lines a second. */
async function imported(db: Database, path: string, count: number): Promise<number> {
  const namespace = `bench-${randomUUID()}`
  const registry = await addRegistry(db, { namespace, kind: 'civil', sender_id: `${namespace}.example` })
  await db.pool.query('checkpoint')
  const start = performance.now()
  const { written } = await importFile(db, registry, path, { rejectsPath: null })
  if (written !== count) throw new Error(`only ${written} of ${count} lines were written`)
  return count / ((performance.now() - start) / 1_000)
}

/** A change of the office that was not found here yet. */
interface Change {
  /** A name that nobody had before. */
  readonly name: string
  /** Milliseconds by the clock of the machine, which both databases have. */
  readonly committed: number
}

async function changes(db: Database, address: string, registry: Registry, plan: SourcePlan) {
  const { mirrored, changes: perSecond, seconds } = plan
  const open = new Map<string, Change>()
  const lags: number[] = []
  // Each change is a transaction at its time, whether those before it are answered or not.
  const office = new pg.Client({ connectionString: address, pipeline: true })
  await office.connect()
  const total = perSecond * seconds
  const start = performance.now()
  const change = async (at: number): Promise<void> => {
    // Registries before this one have copied names of their own changes.
    const name = `Change${registry.id}x${at}x`
    const { rows } = await office.query<{ national_no: string; committed: number }>({
      name: 'change',
      text: `update ${SCHEMA}.person set given_name = $1, changed_at = now() where person_no = $2
        returning national_no, extract(epoch from clock_timestamp())::float8 * 1000 as committed`,
      values: [name, 1 + ((at * 7_919) % mirrored)],
    })
    for (const { national_no, committed } of rows) open.set(national_no, { name, committed })
  }
  const sending = (async () => {
    const sent: Promise<void>[] = []
    for (let at = 0; at < total; at += 1) {
      const ahead = start + (at * 1_000) / perSecond - performance.now()
      if (ahead > 1) await sleep(ahead)
      sent.push(change(at))
    }
    await Promise.all(sent)
    return (performance.now() - start) / 1_000
  })()
  let failure: unknown = null
  sending.catch((error: unknown) => {
    failure = error
  })
  const { table } = recordTable(registry, registry.kind.record_types[0])
  while (lags.length < total) {
    if (failure !== null) throw failure
    const asked = [...open]
    const { rows } = await db.pool.query<{ identifier: string; name: string; now: number }>(
      `select given.*, extract(epoch from clock_timestamp())::float8 * 1000 as now
       from unnest($1::text[], $2::text[]) as given (identifier, name)
       join ${quoteName(table)} on primary_identifier = given.identifier and position(given.name in document) > 0`,
      [asked.map(([identifier]) => identifier), asked.map(([, { name }]) => name)],
    )
    for (const { identifier, name, now } of rows) {
      const found = open.get(identifier)
      if (found?.name !== name) continue
      lags.push(now - found.committed)
      open.delete(identifier)
    }
    await sleep(LOOK)
  }
  const took = await sending
  await office.end()
  return {
    changes: total,
    per_second: Math.round(total / took),
    p50_ms: Math.round(percentile(lags, 0.5)),
    p99_ms: Math.round(percentile(lags, 0.99)),
    longest_ms: Math.round(Math.max(...lags)),
  }
}
