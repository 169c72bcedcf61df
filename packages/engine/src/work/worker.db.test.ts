import { randomBytes, randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { createLoopWake } from '@rollcall/base/shared/wake'
import { DEFAULT_LIMITS, type Limits } from '@rollcall/core/limits'
import { openDatabase } from '@rollcall/database/database'
import { createLog } from '@rollcall/observe/log'
import { createMetrics } from '@rollcall/observe/metrics'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { lossyWay } from '../../../database/test/lossy-connection.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { createAcceptanceSlots } from '../exchange/acceptance-slots.ts'
import { type ClaimedExchange, claimExchanges } from '../store/exchanges/claims.ts'
import { createReceivedMessageStore } from '../store/exchanges/exchanges.ts'
import { commitPage } from '../store/exchanges/replies.ts'
import { type RunningWorker, startWorker } from './worker.ts'

let database: TestDatabase
let workers: RunningWorker[]
let closing: (() => Promise<void>)[]
let log: string[]

beforeEach(async () => {
  database = await testDatabase()
  workers = []
  closing = []
  log = []
})

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()))
  for (const close of closing) await close()
  await database.close()
})

type Work = (name: string, exchange: ClaimedExchange, signal: AbortSignal) => Promise<void> | void

const ONE = { free: 1, share: 1, reserve: 0, large: 1, batches: 1, batchShare: 1 }

/** A node that answers exchanges like this; what ends without an error is answered with nothing. */
async function worker(work: Work, limits: Partial<Limits> = {}, connection = database.db.connection): Promise<RunningWorker> {
  const destination = new Writable({
    write(chunk, _encoding, done) {
      log.push(String(chunk))
      done()
    },
  })
  const db = openDatabase(connection)
  closing.push(() => db.close())
  const started = await startWorker({
    clock: SYSTEM_CLOCK,
    db,
    limits: { ...DEFAULT_LIMITS, node_lease: 2, ...limits },
    log: createLog({ level: 'debug', destination }),
    metrics: createMetrics(() => ({ total: 0, idle: 0, waiting: 0 })),
    dispatcher: { due: () => undefined, poll: async () => undefined, idle: async () => undefined },
    mailboxes: { due: () => undefined, anyDue: () => undefined, poll: async () => undefined, idle: async () => undefined },
    acceptanceSlots: createAcceptanceSlots(),
    exchangesWake: createLoopWake(),
    deliveriesWake: createLoopWake(),
    mailboxesWake: createLoopWake(),
    publishOutbox: async () => undefined,
    outboxWake: createLoopWake(),
    sourcesWake: createLoopWake(),
    async answer(exchange, signal) {
      await work(exchange.transaction_id, exchange, signal)
      await answered(exchange)
    },
  })
  workers.push(started)
  return started
}

const answered = ({ id, claim }: ClaimedExchange): Promise<boolean> =>
  commitPage(database.db, {
    id,
    claim,
    from: 0,
    page: 0,
    state: 'replied',
    items: [],
    delivery: null,
    deliveryClaim: null,
    goesOn: false,
  })

async function accept(name: string, participant = 1): Promise<void> {
  const correlation_id = randomUUID()
  await createReceivedMessageStore(database.db, { waiting: 10 }).remember({
    correlation_id,
    participant,
    message_id: name,
    fingerprint: randomBytes(32),
    registry: 1,
    operation: 'search',
    transaction_id: name,
    accepted: {
      sender_uri: null,
      encrypted: false,
      reference_ids: [],
      chunks: [{ id: correlation_id, request: Buffer.from('x'), request_bytes: 1, items: 1 }],
    },
  })
}

interface Row {
  readonly name: string
  readonly state: string
  readonly claimed: boolean
  readonly runs: number
}

async function exchanges(): Promise<Row[]> {
  const { rows } = await database.db.pool.query<Row>(
    `select transaction_id as name, state, claim is not null as claimed, runs from accepted_exchange
      order by received_at`,
  )
  return rows
}

const eventually = (check: () => Promise<void> | void) => vi.waitFor(check, { timeout: 60_000, interval: 20 })
const dueNow = () => database.db.pool.query('update accepted_exchange set due_at = now()')

test('an exchange is answered once, by a node that has claimed it while it works', async () => {
  const done: string[] = []
  const { promise: goOn, resolve } = Promise.withResolvers<void>()
  const running = await worker(async (name) => {
    await goOn
    done.push(name)
  })
  expect(running.working()).toBe(true)
  await accept('one')
  await eventually(async () => expect(await exchanges()).toMatchObject([{ claimed: true, runs: 1 }]))
  resolve()
  await eventually(async () => expect(await exchanges()).toMatchObject([{ state: 'replied', claimed: false }]))
  expect(done).toEqual(['one'])
  await running.stop()
  expect(running.working()).toBe(false)
})

test('a failure is logged by its class alone, and the exchange is tried again later', async () => {
  const runs: number[] = []
  await worker((_name, exchange) => {
    runs.push(exchange.runs)
    if (runs.length < 3) throw new RangeError('Ada Okoro is not a number')
  })
  await accept('one')
  for (const count of [1, 2]) {
    await eventually(async () => expect(await exchanges()).toMatchObject([{ claimed: false, runs: count }]))
    await dueNow()
  }
  await eventually(async () => expect(await exchanges()).toMatchObject([{ state: 'replied' }]))
  expect(runs).toEqual([1, 2, 3])
  expect(log.join('')).toContain('"task":"process","attempt":1,"error":"RangeError"')
  expect(log.join('')).not.toContain('Okoro')
})

test('runs that end with an error are counted to the longest back-off alone: what waits may wait for days', async () => {
  const runs: number[] = []
  await worker((_name, exchange) => {
    runs.push(exchange.runs)
    throw new RangeError()
  })
  await accept('one')
  for (let run = 1; run <= 7; run += 1) {
    await eventually(async () => {
      expect(runs).toHaveLength(run)
      expect(await exchanges()).toMatchObject([{ claimed: false }])
    })
    await dueNow()
  }
  expect(runs.slice(0, 7)).toEqual([1, 2, 3, 4, 5, 5, 5])
})

test('what a node that is gone had claimed is answered by another one, after its lease', async () => {
  await accept('one')
  const lease = { id: randomUUID(), seconds: 2 }
  const [gone] = await claimExchanges(database.db.claims, lease, ONE, [])
  const done: ClaimedExchange[] = []
  await worker((_name, exchange) => void done.push(exchange))
  await eventually(async () => expect(await exchanges()).toMatchObject([{ state: 'replied' }]))
  expect(done).toMatchObject([{ id: gone?.id, runs: 2 }])
  // When it goes on, it changes nothing.
  expect(gone && (await answered(gone))).toBe(false)
})

test('a claim is renewed for as long as the exchange is in work', async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>()
  const seen: string[] = []
  const until = async () => {
    const { rows } = await database.db.pool.query('select claimed_until from accepted_exchange')
    return rows[0].claimed_until?.getTime()
  }
  await worker(async (name) => {
    seen.push(name)
    await goOn
  })
  await worker((name) => void seen.push(`another ${name}`))
  await accept('one')
  await eventually(() => expect(seen).toHaveLength(1))
  if (seen[0] !== 'one') return resolve()
  const first = await until()
  // Renewed so often that it is past its first end.
  await eventually(async () => expect(await until()).toBeGreaterThan(first + 2_000))
  expect(seen).toEqual(['one'])
  resolve()
  await eventually(async () => expect(await exchanges()).toMatchObject([{ state: 'replied', runs: 0 }]))
})

test('a node that is stopped gives back what does not end in time', async () => {
  const never = new Promise<void>(() => undefined)
  const seen: string[] = []
  const first = await worker(
    (name) => {
      seen.push(`first ${name}`)
      return never
    },
    { stop_time: 0, node_lease: 600 },
  )
  await accept('one')
  await eventually(() => expect(seen).toEqual(['first one']))
  await first.stop()
  // A run that the node itself cut short does not count.
  expect(await exchanges()).toMatchObject([{ state: 'accepted', claimed: false, runs: 0 }])
  await worker((name) => void seen.push(`second ${name}`))
  await eventually(() => expect(seen).toEqual(['first one', 'second one']))
})

test('a node that is stopped says so to what is in work, and lets it end', async () => {
  const seen: string[] = []
  const first = await worker(async (name, _exchange, signal) => {
    seen.push(`begun ${name}`)
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    seen.push(`done ${name}`)
  })
  await accept('one')
  await eventually(() => expect(seen).toEqual(['begun one']))
  await first.stop()
  expect(seen).toEqual(['begun one', 'done one'])
  expect(await exchanges()).toMatchObject([{ state: 'replied' }])
})

test('no more are in work at a time than there are slots, a quarter of them of one participant', async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>()
  const begun: string[] = []
  for (const name of ['a1', 'a2', 'a3', 'a4']) await accept(name, 1)
  await worker(
    async (name) => {
      begun.push(name)
      await goOn
    },
    { worker_concurrency: 8 },
  )
  await eventually(() => expect(begun).toEqual(['a1', 'a2']))
  for (const participant of [2, 3, 4]) for (const nth of [1, 2]) await accept(`${participant}.${nth}`, participant)
  // The last slot is for a participant with nothing in work.
  await eventually(() => expect(begun).toHaveLength(7))
  await accept('z1', 9)
  await eventually(() => expect(begun).toHaveLength(8))
  expect(begun).toContain('z1')
  resolve()
  await eventually(async () => expect((await exchanges()).every(({ state }) => state === 'replied')).toBe(true))
})

test('when every connection is lost it works on as soon as there are new ones', async () => {
  const done = new Set<string>()
  const running = await worker((name) => void done.add(name))
  await accept('before')
  await eventually(() => expect([...done]).toEqual(['before']))
  for (let round = 0; round < 3; round++) {
    // Only clients: a worker of autovacuum belongs to the superuser, and may not be ended by this role.
    await database.db.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
    )
    await accept(`after ${round}`)
    await eventually(() => expect(done).toContain(`after ${round}`))
  }
  await eventually(() => expect(running.working()).toBe(true))
})

test('while its tables are away it does not work, says so once, and goes on when they are there', async () => {
  const done: string[] = []
  const running = await worker((name) => void done.push(name))
  await database.db.pool.query('alter table accepted_exchange rename to away')
  await eventually(() => expect(running.working()).toBe(false))
  await database.db.pool.query('alter table away rename to accepted_exchange')
  await accept('one')
  await eventually(() => expect(done).toEqual(['one']))
  await eventually(() => expect(running.working()).toBe(true))
  expect(log.filter((line) => line.includes('work has to wait for the database'))).toEqual([
    expect.stringContaining('"sqlstate":"42P01"'),
  ])
  expect(log.join('')).toContain('work goes on')
})

test('an exchange that was claimed in an answer that never came is answered all the same', async () => {
  let loses = true
  const way = await lossyWay(database.connection, (answer) => {
    const taken = loses && answer.includes('the lost one')
    loses &&= !taken
    return taken
  })
  closing.push(() => way.close())
  const done: string[] = []
  const connection = { ...database.db.connection, ...way.connection }
  await worker((name) => void done.push(name), {}, connection)
  await accept('the lost one')
  await eventually(() => expect(way.lost()).toBe(1))
  await eventually(() => expect(done).toEqual(['the lost one']))
})
