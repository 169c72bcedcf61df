/**
 * Bytes in the database: of a record of each kind, and of what an answered request leaves behind. The tables of
 * docs/production.md come from here.
 *
 *     npm run bench -- sizes --records 100000 --requests 50000
 *
 * Requests before those that count (`--warm`) fill the first pages of tables and indexes, and store what entries share: in
 * production these are a small part of millions.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { recordTable } from '@rollcall/records/records/record-tables'
import { createContext } from '@rollcall/server/app/context'
import { startServer } from '@rollcall/server/app/serve'
import { readConfig } from '@rollcall/settings/config'
import { openStorage } from '@rollcall/settings/storage'
import { KIND_GENERATORS } from '@rollcall/synthetic'
import { DEFAULT_CALLBACKS, registerCalled } from './async/setting.ts'
import { startReceiver } from './footprint.ts'
import { NAMESPACE } from './search/question.ts'
import { filledRegistry, shuffledIdentifiers } from './search/registry.ts'
import { endless } from './search/setting.ts'
import { withBenchDatabase, withoutStored } from './shared/bench-database.ts'
import { readOptions } from './shared/options.ts'
import { type Row, writeResult } from './shared/results.ts'

/** Bytes of each group of tables, with their indexes. */
type Sizes = Readonly<Record<string, number>>

const NUMBERS = { records: [20_000, 20], requests: [15_000, 1], warm: [10_000, 0] } as const

/** Requests in flight. */
const CONNECTIONS = 16

/** Prints and writes `sizes.json`; there is no bar. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const { plan, place } = readOptions(args, NUMBERS)
  const { records, requests, warm } = plan
  return withBenchDatabase(withoutStored(place), async ({ db, env }) => {
    const recordBytes: Record<string, number> = {}
    // First the one that is searched.
    const registry = await filledRegistry(db, records)
    for (const { kind } of KIND_GENERATORS) {
      const hosted = { namespace: `sizes-${kind}`, kind, sender_id: `${kind}.bench.example` }
      const filled = kind === registry.kind.name ? registry : await filledRegistry(db, records, hosted)
      recordBytes[kind] = Math.round((await bytesOf(db, filled)) / records)
    }
    const found = { ...plan, recordBytes, ...(await ofRequests(db, env, registry, { requests, warm })) }
    await writeResult('sizes', found)
    const row = (what: string, figure: number): Row => {
      return { what: `sizes, ${what}`, ours: '', floor: '', figure: `${figure} bytes`, wanted: '', passed: true }
    }
    return [
      ...Object.entries(recordBytes).map(([kind, bytes]) => row(`a record of ${kind}`, bytes)),
      ...(['synchronous', 'asynchronous'] as const).flatMap((form) =>
        Object.entries(found[form]).map(([tables, bytes]) => row(`${form} search, ${tables}`, bytes)),
      ),
    ]
  })
}

/** Bytes of a registry's records with their indexes. */
async function bytesOf({ pool }: Database, registry: Registry): Promise<number> {
  const tables = registry.kind.record_types.flatMap((recordType) => {
    const { table, identifierTable } = recordTable(registry, recordType)
    return [quoteName(table), quoteName(identifierTable)]
  })
  const { rows } = await pool.query<{ bytes: number }>(
    'select sum(pg_total_relation_size(name::regclass))::float8 as bytes from unnest($1::text[]) as name',
    [tables],
  )
  return rows[0]?.bytes ?? 0
}

/** Bytes that a synchronous and an asynchronous search of one person leave in the database. */
async function ofRequests(
  db: Database,
  env: NodeJS.ProcessEnv,
  registry: Registry,
  { requests, warm }: { readonly requests: number; readonly warm: number },
) {
  const identifiers = endless(await shuffledIdentifiers(db, registry))
  const receiver = await startReceiver(0)
  const config = readConfig({ ...env, ROLLCALL_ROLE: 'all', ROLLCALL_DRAIN_TIME: '0' })
  const storage = await openStorage(config)
  const context = await createContext(config, storage.db)
  const server = await startServer(config, context)
  const url = `http://127.0.0.1:${server.port}`
  const process = { url, usage: () => Promise.reject(new Error('not counted')), stop: server.stop }
  try {
    const address = { address: () => `${receiver.url}/on-search` }
    const asker = await registerCalled(db, process, address, 'sizes.bench.example', DEFAULT_CALLBACKS)
    const headers = await asker.headers()
    const ask = async (path: string): Promise<void> => {
      const [question] = asker.questions(identifiers, 1)
      // Peers send random ids. In an index, numbered ones leave half of each page empty.
      const body = (question?.body ?? '').replace(/"message_id":"[^"]*"/, `"message_id":"${randomUUID()}"`)
      const answer = await fetch(`${url}/${NAMESPACE}/v1.0.0/registry/${path}`, { method: 'POST', headers, body })
      if (!answer.ok) throw new Error(await answer.text())
      await answer.arrayBuffer()
    }
    let called = 0
    receiver.server.on('called', () => {
      called += 1
    })
    const askTimes = async (path: string, times: number): Promise<void> => {
      const calls = called + (path === 'search' ? times : 0)
      let asked = 0
      const inTurn = async (): Promise<void> => {
        while (asked < times) {
          asked += 1
          await ask(path)
        }
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, inTurn))
      while (called < calls) await once(receiver.server, 'called')
      await context.limiter.idle()
    }
    const each = async (path: string): Promise<Sizes> => {
      await askTimes(path, warm)
      const before = await sizes(db)
      await askTimes(path, requests)
      const after = await sizes(db)
      return Object.fromEntries(
        Object.entries(after).map(([name, bytes]) => [name, Math.round((bytes - (before[name] ?? 0)) / requests)]),
      )
    }
    return { synchronous: await each('sync/search'), asynchronous: await each('search') }
  } finally {
    await server.stop()
    await storage.close()
    receiver.server.close()
  }
}

async function sizes({ pool }: Database): Promise<Sizes> {
  const { rows } = await pool.query<{ name: string; bytes: number }>(
    `select case when relname ~ '^account' then 'accounts' else 'messages' end as name,
       sum(pg_total_relation_size(oid))::float8 as bytes
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace group by 1`,
  )
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes]))
}
