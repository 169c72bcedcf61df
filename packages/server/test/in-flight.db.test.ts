/** Requests in flight while the database stands still or the server stops. */

import type { Registry } from '@rollcall/core/model/registry'
import { type Database, openDatabase } from '@rollcall/database/database'
import { createLog } from '@rollcall/observe/log'
import { recordTable } from '@rollcall/records/records/record-tables'
import type { Config } from '@rollcall/settings/config'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RawConnection, rawConnection } from '../../engine/test/raw-http.ts'
import { holdTable } from '../../keys/test/held-table.ts'
import { testConfig } from '../../settings/test/config.ts'
import type { Context } from '../src/app/context.ts'
import { createContext } from '../src/app/context.ts'
import { type RunningServer, startServer } from '../src/app/serve.ts'
import { bearer, MASTER_KEY, post, searchRequest, type TestParticipant, type TestServer, testServer } from './server.ts'

const PATH = '/civil/v1.0.0/registry/sync/search'

let home: TestServer
let peer: TestParticipant
let registry: Registry
let db: Database
let running: RunningServer
let open: RawConnection[]
let config: Config
let context: Context

/** A second server on the same database, with short limits; the first one only prepares and observes. */
beforeEach(async () => {
  home = await testServer()
  peer = await home.participant('raw.example')
  registry = await home.registry('civil', [])
  db = openDatabase({ ...home.database.connection, statement_timeout: 1_000, max: 4, connectionTimeoutMillis: 1_000 })
  config = testConfig({
    PORT: '0',
    ADMIN_PORT: '0',
    ROLLCALL_ROLE: 'http',
    ROLLCALL_MASTER_KEY: MASTER_KEY,
    limits: { request_timeout: 1 },
  })
  context = await createContext(config, db, { log: createLog({ level: 'silent' }) })
  running = await startServer(config, context)
  open = []
})

afterEach(async () => {
  for (const raw of open) raw.destroy()
  await running.stop()
  await db.close()
  await home.close()
})

async function connect(...parts: string[]): Promise<RawConnection> {
  const raw = await rawConnection(running.port)
  open.push(raw)
  raw.write(...parts)
  return raw
}

const message = () => JSON.stringify(searchRequest(peer.sender_id, { type: 'UIN', value: '1' }))
const head = () => `POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${peer.token}\r\n`
const whole = () => `${head()}Content-Length: ${message().length}\r\n\r\n${message()}`

/** Locks what a search reads; returns what unlocks it. */
async function pauseSearches(): Promise<() => Promise<void>> {
  const { identifierTable } = recordTable(registry, registry.kind.record_types[0])
  return (await holdTable(home.database, identifierTable)).release
}

describe('while the database stands still', () => {
  it('every request is answered 503 in time, and 200 when it goes on', async () => {
    const proceed = await pauseSearches()
    try {
      const all = await Promise.all(Array.from({ length: 40 }, () => connect(whole())))
      for (const raw of all) {
        const { status, body } = await raw.response()
        expect([status, JSON.parse(body).message.error]).toEqual([
          503,
          { code: 'err.service.unavailable', message: 'the registry cannot be read at the moment; try again later' },
        ])
      }
      expect((await (await connect('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')).response()).status).toBe(200)
    } finally {
      await proceed()
    }
    expect((await (await connect(whole())).response()).status).toBe(200)
  })
})

/** Whether the server takes no connection any more. */
const isClosed = () =>
  rawConnection(running.port).then(
    (raw) => {
      raw.destroy()
      return false
    },
    () => true,
  )

describe('a server that stops', () => {
  it('answers what is in flight, then ends the connection', async () => {
    const proceed = await pauseSearches()
    const raw = await connect(whole())
    await expect.poll(() => db.pipeline.unanswered).toBeGreaterThan(0)
    const stopped = running.stop()
    await expect.poll(isClosed).toBe(true)
    await proceed()
    const { status, headers } = await raw.response()
    expect([status, headers.get('connection')]).toEqual([200, 'close'])
    await stopped
  })

  it.each([
    ['says nothing', () => ''],
    ['has begun a head', () => head()],
    ['was answered and is kept', () => whole()],
  ])('does not wait for a connection that %s', { timeout: 30_000 }, async (_name, sent) => {
    const raw = await connect(sent())
    if (sent() === whole()) await raw.response()
    // A kept connection would live for 65 seconds, longer than this test may take.
    await running.stop()
  })

  it('gives a body that is coming its time and no more', async () => {
    const raw = await connect(`${head()}Content-Length: 900\r\n\r\n{`)
    const late = await connect(`${head()}Content-Length: ${message().length}\r\n\r\n{`)
    await Promise.all([raw.taken(), late.taken()])
    const stopped = running.stop()
    await expect.poll(isClosed).toBe(true)
    late.write(message().slice(1))
    expect((await late.response()).status).toBe(200)
    expect((await raw.response()).status).toBe(408)
    await stopped
  })
})

it('a node that is asked to stop says so at /ready, and answers, before it takes no more connections', async () => {
  const paused: number[] = []
  const over = Promise.withResolvers<void>()
  const pause = async (milliseconds: number): Promise<void> => {
    paused.push(milliseconds)
    await over.promise
  }
  const node = await startServer(config, context, { pause })
  const ready = async () => (await fetch(`http://127.0.0.1:${node.port}/ready`)).status
  node.markReady()
  expect(await ready()).toBe(200)
  const stopped = node.stop()
  expect(await ready()).toBe(503)
  expect(paused).toEqual([5_000])
  const url = `http://127.0.0.1:${node.port}${PATH}`
  const answer = await post(url, searchRequest(peer.sender_id, { type: 'UIN', value: '1' }), bearer(peer))
  expect(answer.status).toBe(200)
  over.resolve()
  await stopped
  await expect(ready()).rejects.toThrow()
})
