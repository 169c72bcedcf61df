/**
 * The floor of a search, for a process of its own: a bare Fastify route with Fastify's own body parser that writes
 * the message down, makes the look-up of `lookUpStatement`, the same prepared statement over a pool of the same
 * size, commits a row as long as an entry, and answers with the same bytes, signed. It trusts its caller and its input:
 * no token, no checks, no digests, one item, a fixed frame.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { createReceivedMessageStore } from '@rollcall/engine/store/exchanges/exchanges'
import { findParticipant } from '@rollcall/participants/store/participants'
import { findRegistry } from '@rollcall/records/registries/registries'
import { readConfig } from '@rollcall/settings/config'
import { openStorage } from '@rollcall/settings/storage'
import fastify from 'fastify'
import { FLOOR_VARIABLE, type OtherFloor, SIGNATURE_VARIABLE } from './answers.ts'
import { type FloorQuestion, floorAnswers } from './floor-answer.ts'
import { entryWriter, jointWriter } from './floor-entry.ts'
import { floorSigner } from './floor-seal.ts'
import { ASKER_SENDER, NAMESPACE } from './question.ts'

/** @param verifier what it makes is awaited first thing in every request */
export const floorOf = (verifier?: Promise<() => Promise<void>>) => async (env: NodeJS.ProcessEnv) => {
  const verify = await verifier
  const storage = await openStorage(readConfig(env))
  const registry = await findRegistry(storage.db, NAMESPACE)
  if (registry === null) throw new Error(`there is no registry ${NAMESPACE}`)
  const asker = await findParticipant(storage.db, ASKER_SENDER)
  if (asker === null) throw new Error(`there is no participant ${ASKER_SENDER}`)
  const exchanges = createReceivedMessageStore(storage.db, { waiting: 10_000 })
  const fingerprint = randomBytes(32)
  const sign = floorSigner()
  const floor = env[FLOOR_VARIABLE] as OtherFloor | undefined
  const writeEntry = floor === undefined ? await entryWriter(storage) : undefined
  const writeBoth = floor === 'one-commit' ? await jointWriter(storage) : undefined
  const answer = floorAnswers(storage.db, registry, env[SIGNATURE_VARIABLE] ?? '')

  const app = fastify()
  app.post<{ Body: FloorQuestion }>('/search', async (request, reply) => {
    await verify?.()
    const { header, message } = request.body
    const { transaction_id } = message
    const correlation_id = randomUUID()
    const exchange = {
      correlation_id,
      participant: asker.id,
      message_id: header.message_id,
      fingerprint,
      registry: registry.id,
      operation: 'search',
      transaction_id,
    }
    if (writeBoth === undefined) await exchanges.remember(exchange)
    const { type, value } = message.search_request[0].search_criteria.query
    const text = await answer({ type, value, transaction_id, correlation_id }, sign)
    await writeEntry?.()
    await writeBoth?.(exchange)
    reply.headers({ 'content-type': 'application/json', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    return text
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    port: Number(new URL(address).port),
    async stop() {
      await app.close()
      await storage.close()
    },
  }
}
