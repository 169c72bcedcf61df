/**
 * The floor of a search, for a process of its own: a bare Fastify route with Fastify's own body parser that writes
 * the message down, makes the look-up of `findByIdentifier`, the same prepared statement over a pool of the same
 * size, and answers with the same bytes, signed. It trusts its caller and its input: no token, no checks, no
 * digests, one item, a fixed frame.
 */
import { generateKeyPairSync, randomBytes, randomUUID, webcrypto } from 'node:crypto'
import { findParticipant, findRegistry, openStorage, readConfig } from '@rollcall/server'
import fastify from 'fastify'
import { createExchangeMemory } from '../../packages/server/src/store/exchanges.ts'
import { recordTable } from '../../packages/server/src/store/record-tables.ts'
import { findStatement } from '../../packages/server/src/store/search-statement.ts'
import { aroundSignatureValue, SIGNATURE_VARIABLE } from './answers.ts'
import {
  ASKER_SENDER,
  NAMESPACE,
  RECORD_TYPE,
  REFERENCE_ID,
  REG_TYPE,
  REGISTRY_SENDER,
  TRANSACTION_ID,
} from './question.ts'

interface Question {
  readonly header: { readonly message_id: string }
  readonly message: {
    readonly search_request: readonly [
      { readonly search_criteria: { readonly query: { readonly type: string; readonly value: string } } },
    ]
  }
}

const ID = 'e3b0c442-98fc-4c14-9afb-f4c8996fb924'
const TIME = '2026-02-03T09:15:00.000Z'
const BEFORE_RECORDS =
  `{"header":{"action":"on-search","completed_count":1,"is_msg_encrypted":false,"message_id":"${ID}",` +
  `"message_ts":"${TIME}","meta":{},"receiver_id":"${ASKER_SENDER}","sender_id":"${REGISTRY_SENDER}",` +
  `"status":"succ","total_count":1,"version":"1.0.0"},"message":{"correlation_id":"${ID}",` +
  `"search_response":[{"data":{"reg_record_type":"${RECORD_TYPE.emitted}","reg_records":[`
const BEFORE_TOTAL =
  `],"reg_type":"${REG_TYPE}","version":"1.0.0"},"locale":"eng",` +
  '"pagination":{"page_number":1,"page_size":10,"total_count":'
const AFTER_TOTAL =
  `},"reference_id":"${REFERENCE_ID}","status":"succ","timestamp":"${TIME}"}],` +
  `"transaction_id":"${TRANSACTION_ID}"},"signature":`

/** @param verify awaited first thing in every request */
export async function startFloor(verify?: () => Promise<void>) {
  const storage = await openStorage(readConfig(process.env))
  const registry = await findRegistry(storage.db, NAMESPACE)
  if (registry === null) throw new Error(`there is no registry ${NAMESPACE}`)
  const asker = await findParticipant(storage.db, ASKER_SENDER)
  if (asker === null) throw new Error(`there is no participant ${ASKER_SENDER}`)
  const exchanges = createExchangeMemory(storage.db, { waiting: 10_000 })
  const fingerprint = randomBytes(32)
  const signatureOfOurs = process.env[SIGNATURE_VARIABLE] ?? ''
  const [beforeSignature, afterSignature] = aroundSignatureValue(signatureOfOurs)
  const key = await signingKey()
  const statement = findStatement(recordTable(registry, RECORD_TYPE), [])

  const app = fastify()
  app.post<{ Body: Question }>('/search', async (request, reply) => {
    if (verify !== undefined) await verify()
    await exchanges.remember({
      correlation_id: randomUUID(),
      participant: asker.id,
      message_id: request.body.header.message_id,
      fingerprint,
      registry: registry.id,
      operation: 'search',
      transaction_id: TRANSACTION_ID,
    })
    const { type, value } = request.body.message.search_request[0].search_criteria.query
    const { rows } = await storage.db.pool.query<{ total: number; document: string | null }>({
      ...statement,
      values: [type, value, 10, 0, 10_000],
    })
    const documents = rows.flatMap(({ document }) => document ?? [])
    reply.headers({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    const text = BEFORE_RECORDS + documents.join(',') + BEFORE_TOTAL + rows[0]?.total + AFTER_TOTAL
    const signature = await webcrypto.subtle.sign('Ed25519', key, Buffer.from(text))
    const signed = Buffer.from(signature).toString('base64')
    return `${text}${beforeSignature}${signed}${afterSignature}}`
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

async function signingKey(): Promise<webcrypto.CryptoKey> {
  const { privateKey } = generateKeyPairSync('ed25519')
  const jwk = privateKey.export({ format: 'jwk' })
  return webcrypto.subtle.importKey('jwk', jwk as webcrypto.JsonWebKey, 'Ed25519', false, ['sign'])
}
