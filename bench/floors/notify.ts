/**
 * The floor of notifications: it signs ready-made envelopes and posts them through undici, and does nothing else. It reads
 * nothing, composes nothing, and keeps no record of what became of a POST.
 */
import fastify from 'fastify'
import { Agent } from 'undici'
import { floorSigner } from '../search/floor-seal.ts'
import { type StartServer, serveAsChild } from '../shared/server-process.ts'

interface Asked {
  readonly envelopes: string
  /** Bytes of each. */
  readonly size: string
  /** Envelopes on their way at a time. */
  readonly at_once: string
}

/** Addresses among which the envelopes are shared out. */
const ADDRESSES = 1_000

export const start: StartServer = async (env) => {
  const origin = env.BENCH_RECEIVER ?? ''
  const sign = floorSigner()
  const agent = new Agent({ connections: 128, pipelining: 1 })
  const app = fastify()
  app.post<{ Querystring: Asked }>('/send', async ({ query }) => {
    const envelopes = Number(query.envelopes)
    const frame = '{"header":{},"message":{"notify_event":[{"data":{"reg_records":{"filling":""}}}]},"signature":""}'
    const envelope = frame.replace('"filling":""', `"filling":"${'x'.repeat(Math.max(0, Number(query.size) - 200))}"`)
    let next = 0
    const sender = async (): Promise<void> => {
      for (let at = next++; at < envelopes; at = next++) {
        const signature = sign(envelope)
        const { statusCode, body } = await agent.request({
          origin,
          path: `/${at % ADDRESSES}/notify`,
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: envelope.replace('"signature":""', `"signature":"${signature}"`),
        })
        await body.dump()
        if (statusCode !== 200) throw new Error('an envelope was not taken')
      }
    }
    await Promise.all(Array.from({ length: Number(query.at_once) }, sender))
    return {}
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    port: Number(new URL(address).port),
    async stop() {
      await app.close()
      await agent.close()
    },
  }
}

if (import.meta.main) await serveAsChild(start)
