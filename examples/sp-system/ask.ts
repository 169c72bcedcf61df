/** Asks one registry a batch of questions: at once, or to be called back. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { callbacksAt, type QueryCriteria, Receiver, RegistryClient, resultsOf } from '@rollcall/client'
import { nodeListener } from '@rollcall/client/node'
import type { RegistryName } from './questions.ts'
import { clientOptions, peersOf, type Settings } from './settings.ts'

/**
 * Asks questions. True where a record was found, for each question in their order; null where the registry rejected the question,
 * or has not answered it yet.
 */
export type Ask = (registry: RegistryName, batch: readonly QueryCriteria[]) => Promise<readonly (boolean | null)[]>

export interface Asking {
  readonly ask: Ask
  close(): Promise<void>
}

/** The answer comes in the same HTTP exchange. */
export function askAtOnce(settings: Settings): Asking {
  return {
    async ask(registry, batch) {
      const client = new RegistryClient(clientOptions(settings, registry))
      return found(await client.search(batch), batch.length)
    },
    close: async () => undefined,
  }
}

/** The registry takes the question and sends the answer to us when it has it: to a receiver, in this process. */
export async function askLater(settings: Settings): Promise<Asking> {
  const { sender_id } = settings.participant
  const receiver = new Receiver({ receiver_id: sender_id, peers: peersOf(settings) })
  const server = createServer(nodeListener(receiver)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sender_uri = callbacksAt(`http://127.0.0.1:${port}`)
  return {
    async ask(registry, batch) {
      const client = new RegistryClient({ ...clientOptions(settings, registry), receiver, sender_uri })
      const { correlation_id } = await client.searchAsync(batch)
      const callback = await client.awaitCallback(correlation_id)
      if (callback.name !== 'on-search') throw new Error(`a ${callback.name} came where an on-search was due`)
      return found(callback, batch.length)
    },
    async close() {
      server.close()
      server.closeIdleConnections()
      await once(server, 'close')
    },
  }
}

type SearchAnswer = Pick<Awaited<ReturnType<RegistryClient['search']>>, 'message'>

/** Exported for its test. */
export function found(answer: SearchAnswer, questions: number): readonly (boolean | null)[] {
  const results = new Map(resultsOf(answer).map((result) => [result.reference_id, result]))
  // The client numbers the questions of a batch from 1.
  return Array.from({ length: questions }, (_, at) => {
    const result = results.get(String(at + 1))
    if (result === undefined || !result.ok) return null
    const { status, data } = result.item
    // The registry has not searched yet, so nothing is known.
    if (status === 'pdng' || (status === 'rcvd' && data === undefined)) return null
    return (data?.reg_records ?? []).length > 0
  })
}
