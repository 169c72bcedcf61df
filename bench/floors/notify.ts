/**
 * The floors of notifications. `/jobs` is what a user would write: one job of graphile-worker for each envelope, which reads it,
 * signs it, posts it through undici, and records that it is done; it composes nothing. `/send` signs and posts, and does nothing else.
 */
import { randomUUID } from 'node:crypto'
import { ignoreConnectionLosses } from '@rollcall/database/database'
import { readConfig } from '@rollcall/settings/config'
import { openStorage } from '@rollcall/settings/storage'
import fastify from 'fastify'
import { run, type TaskList } from 'graphile-worker'
import pg from 'pg'
import { Agent } from 'undici'
import { openFloorDatabase } from '../async/floor-database.ts'
import { floorSigner } from '../search/floor-seal.ts'
import { type StartServer, serveAsChild } from '../shared/server-process.ts'
import { WORKER, WORKER_CONNECTIONS } from './worker.ts'

interface Asked {
  readonly envelopes: string
  /** Bytes of each. */
  readonly size: string
  /** Envelopes on their way at a time. */
  readonly at_once: string
}

/** Addresses among which the envelopes are shared out. */
const ADDRESSES = 1_000

/** Makes an envelope of about `size` bytes. A tenth of them cannot be compressed, as in the envelopes of Rollcall. */
function envelopeOf({ size }: Asked): string {
  const frame = '{"header":{},"message":{"notify_event":[{"data":{"reg_records":{"filling":""}}}]},"signature":""}'
  let filling = ''
  while (filling.length < Number(size) - 200)
    filling += `${'a record that was changed '.repeat(33)}${randomUUID()}${randomUUID()}${randomUUID()} `
  return frame.replace('"filling":""', `"filling":"${filling.slice(0, Math.max(0, Number(size) - 200))}"`)
}

export const start: StartServer = async (env) => {
  const origin = env.BENCH_RECEIVER ?? ''
  const sign = floorSigner()
  const agent = new Agent({ connections: 128, pipelining: 1 })
  const storage = await openStorage(readConfig(env))
  const { connection, pool, close } = openFloorDatabase(storage.db)

  const post = async (number: number, envelope: string): Promise<void> => {
    const { statusCode, body } = await agent.request({
      origin,
      path: `/${number % ADDRESSES}/notify`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: envelope.replace('"signature":""', `"signature":"${sign(envelope)}"`),
    })
    await body.dump()
    if (statusCode !== 200) throw new Error('an envelope was not taken')
  }
  const tasks: TaskList = {
    async notify(given) {
      const { id } = given as { readonly id: number }
      const { rows } = await pool.query<{ body: string }>({
        name: 'bench envelope',
        text: 'select body from bench_envelope where id = $1',
        values: [id],
      })
      await post(id, rows[0]?.body ?? '')
      await pool.query({
        name: 'bench envelope done',
        text: 'update bench_envelope set done_at = now() where id = $1',
        values: [id],
      })
    },
  }
  const pgPool = ignoreConnectionLosses(new pg.Pool({ ...connection, max: WORKER_CONNECTIONS }))
  await pool.query('create table if not exists bench_envelope (id integer primary key, body text not null, done_at timestamptz)')
  const runner = await run({ ...WORKER, pgPool }, tasks, [])

  const app = fastify()
  app.post<{ Querystring: Asked }>('/send', async ({ query }) => {
    const envelope = envelopeOf(query)
    const envelopes = Number(query.envelopes)
    let next = 0
    const sender = async (): Promise<void> => {
      for (let at = next++; at < envelopes; at = next++) await post(at, envelope)
    }
    await Promise.all(Array.from({ length: Number(query.at_once) }, sender))
    return {}
  })
  app.post<{ Querystring: Asked }>('/envelopes', async ({ query }) => {
    await pool.query('truncate bench_envelope')
    await pool.query('insert into bench_envelope (id, body) select id, $2 from generate_series(1, $1::integer) as id', [
      Number(query.envelopes),
      envelopeOf(query),
    ])
    return {}
  })
  // The jobs of a queue run one after the other, so one subscriber gets its messages in order.
  app.post<{ Querystring: Asked }>('/jobs', async ({ query }) => {
    await pool.query(
      `select graphile_worker.add_job('notify', json_build_object('id', id), queue_name := $1)
        from (select id from bench_envelope order by id) as envelope`,
      [query.at_once === '1' ? 'one' : null],
    )
    return {}
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    port: Number(new URL(address).port),
    async stop() {
      await app.close()
      await runner.stop()
      await pgPool.end()
      await agent.close()
      await close()
      await storage.close()
    },
  }
}

if (import.meta.main) await serveAsChild(start)
