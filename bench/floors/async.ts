/**
 * The floor of a request that is answered later: a bare Fastify route that writes one row and adds one job in one
 * statement, and a graphile worker, set as ours is, whose task makes the look-up of `lookUpStatement` and one POST
 * of the same bytes as ours. It trusts its caller: no token, no checks, no digests, nothing sealed, no retries, no
 * record of what became of the POST. `/signed-search` verifies one signature, and its callbacks are signed.
 */
import { randomUUID } from 'node:crypto'
import { ignoreConnectionLosses } from '@rollcall/database/database'
import { readConfig } from '@rollcall/settings/config'
import { openStorage } from '@rollcall/settings/storage'
import fastify, { type FastifyRequest } from 'fastify'
import { run, type TaskList } from 'graphile-worker'
import pg from 'pg'
import { Agent } from 'undici'
import { floorRegistry, openFloorDatabase } from '../async/floor-database.ts'
import { SIGNATURE_VARIABLE } from '../search/answers.ts'
import { type Asked, type FloorQuestion, floorAnswers } from '../search/floor-answer.ts'
import { floorSigner, floorVerifier } from '../search/floor-seal.ts'
import { type StartServer, serveAsChild } from '../shared/server-process.ts'
import { WORKER, WORKER_CONNECTIONS } from './worker.ts'

interface Payload extends Asked {
  readonly target: string
  readonly signed: boolean
}

const ACCEPT = {
  name: 'bench accept',
  text: `with request as (insert into bench_request (id, message_id, transaction_id) values ($1, $2, $3))
    select graphile_worker.add_job('answer', $4::json)`,
}

export const start: StartServer = async (env) => {
  const storage = await openStorage(readConfig(env))
  const db = openFloorDatabase(storage.db)
  const answer = floorAnswers(db, await floorRegistry(db), env[SIGNATURE_VARIABLE] ?? '')
  const verify = await floorVerifier()
  const sign = floorSigner()
  const agent = new Agent({ connections: 128, pipelining: 1 })

  const accept = async ({ body }: FastifyRequest<{ Body: FloorQuestion }>, signed: boolean) => {
    const { header, message } = body
    const { transaction_id } = message
    const { type, value } = message.search_request[0].search_criteria.query
    const correlation_id = randomUUID()
    const target = header.sender_uri ?? ''
    const payload: Payload = { type, value, transaction_id, correlation_id, target, signed }
    const values = [correlation_id, header.message_id, transaction_id, JSON.stringify(payload)]
    await db.pool.query({ ...ACCEPT, values })
    return { message: { ack_status: 'ACK', timestamp: new Date().toISOString(), correlation_id } }
  }
  const tasks: TaskList = {
    async answer(given) {
      const { target, signed, ...asked } = given as Payload
      const url = new URL(target)
      const { statusCode, body } = await agent.request({
        origin: url.origin,
        path: url.pathname,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: await answer(asked, signed ? sign : undefined),
      })
      await body.dump()
      if (statusCode !== 200) throw new Error('a callback was not taken')
    },
  }

  const app = fastify()
  app.post<{ Body: FloorQuestion }>('/search', (request) => accept(request, false))
  app.post<{ Body: FloorQuestion }>('/signed-search', async (request) => {
    await verify()
    return accept(request, true)
  })
  const pgPool = ignoreConnectionLosses(new pg.Pool({ ...db.connection, max: WORKER_CONNECTIONS }))
  const runner = await run({ ...WORKER, pgPool }, tasks, [])
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    port: Number(new URL(address).port),
    async stop() {
      await app.close()
      await runner.stop()
      await pgPool.end()
      await agent.close()
      await db.close()
      await storage.close()
    },
  }
}

if (import.meta.main) await serveAsChild(start)
