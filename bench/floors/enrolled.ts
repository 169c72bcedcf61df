/**
 * The floor of a question whether somebody is enrolled: a bare Fastify route that writes the message down, makes the
 * look-up of `lookUpStatement`, parses the record, and answers with as many bytes as ours, signed. It knows one place and two
 * spellings of a status, and trusts its caller and its input.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { createReceivedMessageStore } from '@rollcall/engine/store/exchanges/exchanges'
import { findParticipant } from '@rollcall/participants/store/participants'
import { recordTable } from '@rollcall/records/records/record-tables'
import { findRegistry } from '@rollcall/records/registries/registries'
import { readConfig } from '@rollcall/settings/config'
import { openStorage } from '@rollcall/settings/storage'
import fastify from 'fastify'
import { lookUpStatement } from '../../packages/records/src/records/search-statement.ts'
import { BENEFICIARIES, type EnrolledQuestion } from '../enrolment/question.ts'
import { aroundSignatureValue, SIGNATURE_VARIABLE } from '../search/answers.ts'
import { floorSigner } from '../search/floor-seal.ts'
import { ASKER_SENDER } from '../search/question.ts'
import { type StartServer, serveAsChild } from '../shared/server-process.ts'

const ID = 'e3b0c442-98fc-4c14-9afb-f4c8996fb924'
const TIME = '2026-02-03T09:15:00.000Z'
const HEADER =
  `{"action":"on-search","completed_count":1,"is_msg_encrypted":false,"message_id":"${ID}",` +
  `"message_ts":"${TIME}","meta":{},"receiver_id":"${ASKER_SENDER}","sender_id":"${BENEFICIARIES.sender_id}",` +
  '"status":"succ","total_count":1,"version":"1.0.0"}'

interface Enrolled {
  readonly enrolment_status: string
}

/** Whether a document has the enrolment, in the form in which records of the bench have it. */
function isEnrolled(document: string | null | undefined): boolean {
  if (typeof document !== 'string') return false
  const { programme_identifier } = JSON.parse(document).member as { programme_identifier: Enrolled | Enrolled[] }
  return [programme_identifier].flat().some(({ enrolment_status }) => /^(?:1|active)$/i.test(enrolment_status))
}

export const start: StartServer = async (env) => {
  const storage = await openStorage(readConfig(env))
  const registry = await findRegistry(storage.db, BENEFICIARIES.namespace)
  const asker = await findParticipant(storage.db, ASKER_SENDER)
  if (registry === null || asker === null) throw new Error('there is no registry or no participant')
  const exchanges = createReceivedMessageStore(storage.db, { waiting: 10_000 })
  const fingerprint = randomBytes(32)
  const sign = floorSigner()
  const [beforeValue, afterValue] = aroundSignatureValue(env[SIGNATURE_VARIABLE] ?? '')
  const table = recordTable(registry, registry.kind.record_types[0])
  const page = { sort: [], limit: 2, offset: 0, cap: 2 }

  const app = fastify()
  app.post<{ Body: EnrolledQuestion }>('/enrolled', async (request, reply) => {
    const { header, message } = request.body
    const { transaction_id } = message
    const correlation_id = randomUUID()
    await exchanges.remember({
      correlation_id,
      participant: asker.id,
      message_id: header.message_id,
      fingerprint,
      registry: registry.id,
      operation: 'enrolled',
      transaction_id,
    })
    const person = message.enrolled_criteria.query.person_identifier.eq
    const statement = lookUpStatement(table, { type: 'UIN', value: person }, page)
    const { rows } = await storage.db.pool.query<{ document: string | null }>({ ...statement, values: [...statement.values] })
    const status = isEnrolled(rows[0]?.document) ? 'yes' : 'no'
    const members =
      `"correlation_id":"${correlation_id}","enrolled_response":[{"enrolled_status":"${status}",` +
      `"reference_id":"${person}","status":"succ","timestamp":"${TIME}"}],`
    const sealed = `"header":${HEADER},"message":{${members}"transaction_id":"${transaction_id}"}`
    const signature = `${beforeValue}${sign(sealed)}${afterValue}`
    reply.headers({ 'content-type': 'application/json', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    return `{${members}${sealed},"signature":${signature},"transaction_id":"${transaction_id}"}`
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

if (import.meta.main) await serveAsChild(start)
