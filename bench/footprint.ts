/**
 * How many source files and functions warm work runs through, by the coverage that V8 counts: a synchronous search until
 * its answer is there, an asynchronous one until its callback is acknowledged, and an event from its publishing until its
 * notification is acknowledged.
 *
 *     npm run bench -- footprint
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type Profiler, Session } from 'node:inspector/promises'
import type { AddressInfo } from 'node:net'
import { publishEvent } from '@rollcall/admin/events/publish'
import { SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { createContext } from '@rollcall/server/app/context'
import { startServer } from '@rollcall/server/app/serve'
import { readConfig } from '@rollcall/settings/config'
import { openStorage } from '@rollcall/settings/storage'
import { acting } from '../packages/admin/test/acting.ts'
import { DEFAULT_CALLBACKS, registerCalled } from './async/setting.ts'
import { forgetEvents, makeSubscribers, newborn } from './events/subscribers.ts'
import { KIND, NAMESPACE } from './search/question.ts'
import { filledRegistry, shuffledIdentifiers } from './search/registry.ts'
import { endless } from './search/setting.ts'
import { withBenchDatabase, withoutStored } from './shared/bench-database.ts'
import { readOptions } from './shared/options.ts'
import { type Row, writeResult } from './shared/results.ts'

/** Events write into a registry of their own: searches of other benches find what was imported, and nothing else. */
const PUBLISHED = { namespace: 'bench-published', kind: KIND, sender_id: 'published.bench.example' }
const NUMBERS = {
  /** Requests before the counted one, so that caches are filled and connections are open. */
  'warm-up': [30, 3],
} as const
/** The number of measurements. */
const TIMES = 4
/** The sources that are counted: those of the server, without the protocol, which clients have too. */
const COUNTED = /\/packages\/(?!protocol\/)[^/]+\/src\//

interface Footprint {
  readonly files: number
  readonly functions: number
}

/** The number of runs of each function, by its file, its place in it and its name. */
type Ran = ReadonlyMap<string, number>

/** The last counts, as docs/benchmarks.md has them, and the share by which they may grow. */
const LAST = {
  'synchronous search': { files: 82, functions: 273 },
  'asynchronous search': { files: 113, functions: 401 },
  'event to notification': { files: 110, functions: 406 },
} as const satisfies Readonly<Record<string, Footprint>>
const GROWTH = 0.1

/** Counts, prints and writes `footprint.json`, which names each function. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const { plan, place } = readOptions(args, NUMBERS)
  return withBenchDatabase(withoutStored(place), async ({ db, env }) => {
    // Work that another bench left here would be answered and delivered meanwhile, by a clock that stands still.
    await forgetEvents(db)
    await db.pool.query('truncate exchange cascade')
    // One record is asked for again and again: the entry of another one may have a shape that is not known yet.
    const [known = ''] = await shuffledIdentifiers(db, await filledRegistry(db, 1))
    const identifiers = endless([known])
    const receiver = await startReceiver()
    const config = readConfig({ ...env, ROLLCALL_ROLE: 'all' })
    const storage = await openStorage(config)
    // Its clock stands still: what a node knows of its settings is not read anew while work is counted.
    const clock = { ...SYSTEM_CLOCK, now: () => 0 }
    const server = await startServer(config, await createContext(config, storage.db, { clock }))
    const url = `http://127.0.0.1:${server.port}`
    const process = { url, usage: () => Promise.reject(new Error('not counted')), stop: server.stop }
    const address = { address: () => `${receiver.url}/on-search` }
    try {
      const asker = await registerCalled(db, process, address, 'footprint.bench.example', DEFAULT_CALLBACKS)
      const headers = await asker.headers()
      const ask = async (path: string): Promise<void> => {
        const [question] = asker.questions(identifiers, 1)
        const body = question?.body ?? ''
        const answer = await fetch(`${url}/${NAMESPACE}/v1.0.0/registry/${path}`, { method: 'POST', headers, body })
        if (!answer.ok) throw new Error(await answer.text())
        await answer.arrayBuffer()
      }
      const asynchronous = async (): Promise<void> => {
        const called = once(receiver.server, 'called')
        await ask('search')
        await called
      }
      await makeSubscribers(db, await filledRegistry(db, 1, PUBLISHED), receiver.url, { participants: 1, addresses: 1 })
      const published = async (): Promise<void> => {
        const called = once(receiver.server, 'called')
        const record = JSON.parse(newborn(`UIN-${randomUUID()}`))
        await publishEvent(acting({ db: storage.db, limits: config.limits }), {
          namespace: PUBLISHED.namespace,
          reg_event_type: 'LiveBirth',
          record,
        })
        await called
      }
      const works = {
        'synchronous search': () => ask('sync/search'),
        'asynchronous search': asynchronous,
        'event to notification': published,
      } satisfies Readonly<Record<keyof typeof LAST, () => Promise<void>>>
      const rows: Row[] = []
      const lists: Record<string, readonly string[]> = {}
      for (const name of Object.keys(LAST) as (keyof typeof LAST)[]) {
        const ran = await counted(works[name], plan['warm-up'])
        lists[name] = ran.map(([place, times]) => `${place} ${times}`)
        const functions = ran.length
        const files = new Set(ran.map(([place]) => place.split(' ')[0])).size
        const [mostFiles, mostFunctions] = [LAST[name].files, LAST[name].functions].map((last) =>
          Math.floor(last * (1 + GROWTH)),
        ) as [number, number]
        rows.push({
          what: `footprint, ${name}`,
          ours: '',
          floor: '',
          figure: `${files} files, ${functions} functions`,
          wanted: `at most ${mostFiles} and ${mostFunctions}`,
          passed: files <= mostFiles && functions <= mostFunctions,
        })
      }
      await writeResult('footprint', { rows, ran: lists })
      return rows
    } finally {
      await server.stop()
      await storage.close()
      receiver.server.close()
    }
  })
}

/** @param rest milliseconds from its answer until it says that it was called */
export async function startReceiver(rest = 250) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"message":{"ack_status":"ACK"}}')
      // The work of an attempt after the answer belongs to the attempt.
      setTimeout(() => server.emit('called'), rest)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** The functions that run each time when the work is repeated a few times. All others are work in the background. */
async function counted(work: () => Promise<void>, warm: number): Promise<[place: string, times: number][]> {
  for (let done = 0; done < warm; done += 1) await work()
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const found: Ran[] = []
  while (found.length < TIMES) {
    await session.post('Profiler.takePreciseCoverage')
    await work()
    found.push(ranFunctions((await session.post('Profiler.takePreciseCoverage')).result))
  }
  session.disconnect()
  const [first = new Map<string, number>(), ...others] = found
  const always = [...first].filter(([name]) => others.every((ran) => ran.has(name)))
  if (always.length === 0) throw new Error('nothing was counted')
  return always.sort(([one], [other]) => (one < other ? -1 : 1))
}

function ranFunctions(scripts: readonly Profiler.ScriptCoverage[]): Ran {
  const ran = new Map<string, number>()
  for (const { url, functions } of scripts.filter((script) => COUNTED.test(script.url))) {
    const file = url.slice(url.indexOf('/packages/') + '/packages/'.length)
    for (const { functionName, ranges } of functions) {
      const [range] = ranges
      if (functionName === '' || range === undefined || range.count === 0) continue
      ran.set(`${file} ${String(range.startOffset).padStart(6)} ${functionName}`, range.count)
    }
  }
  return ran
}
