import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { lossyWay } from '../../test/lossy-connection.ts'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { readLimits } from '../limits.ts'
import { createLog } from '../observe/log.ts'
import { createMetrics } from '../observe/metrics.ts'
import { listGoneNodes } from '../store/db/nodes.ts'
import { inTransaction } from '../store/db/transaction.ts'
import type { Run, Tasks } from './tasks.ts'
import { type RunningWorker, startWorker } from './worker.ts'

let database: TestDatabase
let workers: RunningWorker[]
let log: string[]

beforeEach(async () => {
  database = await testDatabase()
  workers = []
  log = []
})

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()))
  await database.close()
})

type Work = (id: string, run: Run) => Promise<void> | void

/** A worker whose `process` does this. */
async function worker(
  work: Work,
  env: Readonly<Record<string, string>> = {},
  connection = database.db.connection,
): Promise<RunningWorker> {
  const destination = new Writable({
    write(chunk, _encoding, done) {
      log.push(String(chunk))
      done()
    },
  })
  const tasks: Tasks = {
    process: {
      payload: 'correlation_id',
      isId: (value) => typeof value === 'string',
      run: async (_context, id, run) => work(id, run),
    },
    drain: { payload: 'participant', isId: (value) => typeof value === 'number', run: async () => undefined },
  }
  const context = {
    db: { ...database.db, connection },
    limits: readLimits({ ROLLCALL_NODE_LEASE: '4', ...env }),
    log: createLog({ level: 'debug', destination }),
    metrics: createMetrics(() => ({ total: 0, idle: 0, waiting: 0 })),
  }
  // Of a context, working on jobs needs no more than this.
  const started = await startWorker(context as never, tasks)
  workers.push(started)
  return started
}

async function add(id: string, maxAttempts = 5): Promise<void> {
  await database.db.pool.query(
    `select graphile_worker.add_job('process', json_build_object('correlation_id', $1::text), max_attempts => $2)`,
    [id, maxAttempts],
  )
}

interface Job {
  readonly locked_by: string | null
  readonly attempts: number
  readonly last_error: string | null
}

async function jobs(): Promise<Job[]> {
  const { rows } = await database.db.pool.query<Job>(
    'select locked_by, attempts, last_error from graphile_worker._private_jobs order by id',
  )
  return rows
}

async function nodes(): Promise<{ id: string; workers: string[] }[]> {
  return (await database.db.pool.query('select id, workers from node order by started_at')).rows
}

const eventually = (check: () => Promise<void> | void) => vi.waitFor(check, { timeout: 10_000, interval: 20 })

test('a job is done once, by a node that is in the table while it works', async () => {
  const done: string[] = []
  const { promise: goOn, resolve } = Promise.withResolvers<void>()
  const running = await worker(async (id) => {
    await goOn
    done.push(id)
  })
  expect(running.working()).toBe(true)
  const [node] = await nodes()
  await add('one')
  await eventually(async () => expect(await jobs()).toMatchObject([{ locked_by: node?.id, attempts: 1 }]))
  expect(node?.workers).toEqual([node?.id])
  resolve()
  await eventually(async () => expect(await jobs()).toEqual([]))
  expect(done).toEqual(['one'])
  await running.stop()
  expect(running.working()).toBe(false)
  expect(await nodes()).toEqual([])
})

test('a failure is kept and logged by its class alone, and the last attempt knows that it is', async () => {
  const attempts: Run[] = []
  await worker((_id, attempt) => {
    attempts.push(attempt)
    throw new RangeError('Ada Okoro is not a number')
  })
  await add('one', 2)
  await eventually(async () =>
    expect(await jobs()).toEqual([{ locked_by: null, attempts: 1, last_error: 'RangeError' }]),
  )
  await database.db.pool.query('update graphile_worker._private_jobs set run_at = now()')
  await eventually(async () => expect(await jobs()).toMatchObject([{ locked_by: null, attempts: 2 }]))
  expect(attempts).toMatchObject([
    { attempt: 1, last: false },
    { attempt: 2, last: true },
  ])
  expect(log.join('')).toContain('"task":"process","attempt":1,"last":false,"error":"RangeError"')
  expect(log.join('')).not.toContain('Okoro')
  expect(log.join('')).not.toContain('correlation_id')
})

test('when its lock is lost a job is done anew under another, and what was begun before says nothing more', async () => {
  const runs = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const seen: string[] = []
  const running = await worker(async () => {
    const run = seen.push('begun') - 1
    await runs[run]?.promise
    seen.push(`run ${run} over`)
  })
  const [first] = await nodes()
  await add('one')
  await eventually(() => expect(seen).toEqual(['begun']))
  await loseLock(first?.id)
  await eventually(() => expect(seen).toEqual(['begun', 'begun']))
  const [second] = await nodes()
  expect(second?.id).not.toBe(first?.id)
  expect(await nodes()).toHaveLength(1)
  expect(await jobs()).toMatchObject([{ locked_by: second?.id, attempts: 2 }])
  await eventually(() => expect(running.working()).toBe(true))

  runs[0]?.resolve()
  await eventually(() => expect(seen).toContain('run 0 over'))
  await sleep(200)
  expect(await jobs()).toMatchObject([{ locked_by: second?.id }])
  runs[1]?.resolve()
  await eventually(async () => expect(await jobs()).toEqual([]))
})

/** Ends the session that holds a node's lock. */
async function loseLock(node: string | undefined): Promise<void> {
  const { rows } = await database.db.pool.query(
    `select pg_terminate_backend(pid) from pg_locks join node on node.id = $1
      and (lock_key >> 32 & 4294967295) = classid::bigint and (lock_key & 4294967295) = objid::bigint
      where locktype = 'advisory'`,
    [node],
  )
  expect(rows).toHaveLength(1)
}

test('the jobs of a node that is gone are freed within a second, those of one that lives are not', async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>()
  const done: string[] = []
  await worker(async (id) => {
    if (id === 'living') await goOn
    done.push(id)
  })
  await add('living')
  await eventually(async () => expect(await jobs()).toMatchObject([{ attempts: 1 }]))
  const gone = randomUUID()
  await leaveBehind(gone, '1', 'orphan')
  await eventually(() => expect(done).toEqual(['orphan']))
  expect((await nodes()).map(({ id }) => id)).not.toContain(gone)
  await eventually(async () => expect(await jobs()).toMatchObject([{ attempts: 1 }]))
  resolve()
  await eventually(async () => expect(await jobs()).toEqual([]))
})

/** Leaves the row of a node that is gone, and a job that it had taken. */
async function leaveBehind(node: string, lock_key: string, id: string): Promise<void> {
  const client = await database.db.pool.connect()
  await inTransaction(client, async () => {
    await client.query(
      `select graphile_worker.add_job('process', json_build_object('correlation_id', $1::text))`,
      [id],
    )
    await client.query(
      `update graphile_worker._private_jobs set locked_by = $1, locked_at = now()
        where payload ->> 'correlation_id' = $2`,
      [node, id],
    )
    await client.query('insert into node (id, lock_key, workers) values ($1, $2, array[$3])', [
      node,
      lock_key,
      node,
    ])
  })
  client.release()
}

test.each(['9007199254740993', '9223372036854775807', '-9223372036854775808', '0'])(
  'the jobs of a node whose lock has the key %s are freed',
  async (lock_key) => {
    const done: string[] = []
    const running = await worker((id) => void done.push(id))
    const [before] = await nodes()
    await leaveBehind(randomUUID(), lock_key, 'orphan')
    await eventually(() => expect(done).toEqual(['orphan']))
    await eventually(async () => expect(await nodes()).toEqual([before]))
    expect(running.working()).toBe(true)
  },
)

test('a node whose jobs cannot be freed is said once, and does not stop the others', async () => {
  const stuck = randomUUID()
  await database.db.pool.query(
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`,
  )
  await database.db.pool.query(
    `create trigger refuse before delete on node for each row when (old.id = '${stuck}') execute function refuse()`,
  )
  const done: string[] = []
  const running = await worker((id) => void done.push(id))
  const [before] = await nodes()
  await leaveBehind(stuck, '7', 'stuck')
  await eventually(() => expect(log.join('')).toContain('cannot be freed'))
  await eventually(async () => expect(await listGoneNodes(database.db)).toEqual([{ id: stuck, jobs: 1 }]))
  await leaveBehind(randomUUID(), '8', 'orphan')
  await eventually(() => expect(done).toEqual(['orphan']))
  await leaveBehind(randomUUID(), '9', 'another')
  await eventually(() => expect(done).toEqual(['orphan', 'another']))
  expect(log.filter((line) => line.includes('cannot be freed'))).toEqual([
    expect.stringMatching(new RegExp(`"node":"${stuck}".*"sqlstate":"P0001"`)),
  ])
  expect(running.working()).toBe(true)
  expect((await nodes()).map(({ id }) => id)).toContain(before?.id)
  await database.db.pool.query('drop trigger refuse on node')
  await eventually(() => expect(done).toContain('stuck'))
})

test('a node that is stopped gives back what does not end in time', async () => {
  const never = new Promise<void>(() => undefined)
  const seen: string[] = []
  const first = await worker(
    (id) => {
      seen.push(`first ${id}`)
      return never
    },
    { ROLLCALL_STOP_TIME: '0' },
  )
  await add('one', 1)
  await eventually(() => expect(seen).toEqual(['first one']))
  await first.stop()
  expect(await jobs()).toEqual([{ locked_by: null, attempts: 1, last_error: null }])
  const last: Run[] = []
  await worker((id, attempt) => {
    seen.push(`second ${id}`)
    last.push(attempt)
  })
  // Its only attempt was cut short, so it has another, which is the last.
  await eventually(async () => expect(await jobs()).toEqual([]))
  expect(seen).toEqual(['first one', 'second one'])
  expect(last).toMatchObject([{ attempt: 2, last: true }])
})

test('jobs that were taken and not begun go back when a node is stopped, or its lock is lost', async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>()
  const seen: string[] = []
  const one = { ROLLCALL_WORKER_CONCURRENCY: '1' }
  const first = await worker(async (id) => {
    seen.push(id)
    await goOn
  }, one)
  const [node] = await nodes()
  for (const id of ['a', 'b', 'c', 'd']) await add(id)
  await eventually(async () => {
    // One is in work, and at least another waits beside it.
    const taken = (await jobs()).filter(({ locked_by }) => locked_by === node?.id)
    expect(taken.length).toBeGreaterThan(1)
  })
  await loseLock(node?.id)
  await eventually(async () => expect((await nodes()).map(({ id }) => id)).not.toContain(node?.id))
  await eventually(() => expect(first.working()).toBe(true))
  const stopping = first.stop()
  await eventually(async () =>
    expect((await jobs()).filter(({ locked_by }) => locked_by !== null).length).toBeLessThan(2),
  )
  resolve()
  await stopping
  await worker((id) => {
    seen.push(id)
  })
  await eventually(async () => expect(await jobs()).toEqual([]))
  expect([...new Set(seen)].sort()).toEqual(['a', 'b', 'c', 'd'])
})

test('a node that is stopped lets what is in work end', async () => {
  const seen: string[] = []
  const first = await worker(async (id) => {
    seen.push(`begun ${id}`)
    await sleep(300)
    seen.push(`done ${id}`)
  })
  await add('one')
  await eventually(() => expect(seen).toEqual(['begun one']))
  await first.stop()
  expect(seen).toEqual(['begun one', 'done one'])
  expect(await jobs()).toEqual([])
})

test('when every connection is lost it works on as soon as there are new ones', async () => {
  const done = new Set<string>()
  const running = await worker((id) => {
    done.add(id)
  })
  await add('before')
  await eventually(() => expect([...done]).toEqual(['before']))
  for (let round = 0; round < 3; round++) {
    await database.db.pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    await add(`after ${round}`)
    await eventually(() => expect(done).toContain(`after ${round}`))
  }
  await eventually(() => expect(running.working()).toBe(true))
  await eventually(async () => expect(await jobs()).toEqual([]))
  await eventually(async () => expect(await nodes()).toHaveLength(1))
})

test('jobs that were taken in an answer that never came are done all the same', async () => {
  let loses = true
  const way = await lossyWay(database.connection, (answer) => {
    const taken = loses && answer.includes('the lost one')
    loses &&= !taken
    return taken
  })
  const done: string[] = []
  const connection = { ...database.db.connection, ...way.connection }
  const running = await worker((id) => void done.push(id), {}, connection)
  const [first] = await nodes()
  await add('the lost one')
  await eventually(() => expect(way.lost()).toBe(1))
  await eventually(() => expect(done).toEqual(['the lost one']))
  await eventually(async () => expect(await jobs()).toEqual([]))
  expect((await nodes()).map(({ id }) => id)).not.toContain(first?.id)
  await running.stop()
  await way.close()
})

test('graphile-worker cannot look up its tasks when it begins: it works as soon as it can', async () => {
  const rename = (from: string, to: string) =>
    database.db.pool.query(`alter table graphile_worker.${from} rename to ${to}`)
  const done: string[] = []
  await add('a job')
  await rename('_private_tasks', 'away')
  await worker((id) => void done.push(id))
  await eventually(() => expect(log.join('')).toContain('fetching jobs'))
  await rename('away', '_private_tasks')
  await eventually(() => expect(done).toEqual(['a job']))
})

test('a payload without its id is a failure, not a guess', async () => {
  await worker(() => undefined)
  await database.db.pool.query(
    `select graphile_worker.add_job('process', '{"participant": 1}', max_attempts => 1)`,
  )
  await eventually(async () =>
    expect(await jobs()).toMatchObject([{ last_error: 'TypeError', locked_by: null }]),
  )
})
