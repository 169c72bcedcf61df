/** A server that takes uploads within narrow limits, a participant that sends them, and what is persisted of them. */
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { BOUNDARY, multipartBody, uploadParts } from '../../engine/test/multipart.ts'
import { type Answer, bearer, post, searchRequest, type TestParticipant, type TestServer, testServer } from './server.ts'

export const UPLOAD_PATH = '/civil/v1.0.0/registry/search'
export const UPLOAD_TYPE = `multipart/form-data; boundary=${BOUNDARY}`

const LIMITS = { body_bytes: 50_000, upload_bytes: 4_000_000, upload_items: 2000, batch_items: 10, participant_rate: 1_000_000 }

export interface Uploading {
  readonly server: TestServer
  readonly ada: TestParticipant
  send(body: Buffer, by?: TestParticipant, type?: string, path?: string): Promise<Answer>
  upload(parts: Parameters<typeof uploadParts>[0], by?: TestParticipant): Promise<Answer>
  /** Reads the accepted request from the database, and decrypts it. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
  persisted(answer: Answer): Promise<any>
  acceptedCount(): Promise<number>
}

export async function uploading(): Promise<Uploading> {
  const server = await testServer({ limits: LIMITS })
  const ada = await server.participant('spmis.demo')
  await server.registry('civil')
  const { db } = server.database
  const send: Uploading['send'] = (body, by = ada, type = UPLOAD_TYPE, path = UPLOAD_PATH) =>
    post(`${server.url}${path}`, new Uint8Array(body), { ...bearer(by), 'Content-Type': type })
  return {
    server,
    ada,
    send,
    upload: (parts, by) => send(multipartBody(uploadParts(parts)), by),
    async persisted(answer) {
      expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ message: { ack_status: 'ACK' } })
      expect(answer.status).toBe(200)
      const { correlation_id } = answer.body.message
      const { rows } = await db.pool.query(
        'select items, request, transaction_id from accepted_exchange where correlation_id = $1',
        [correlation_id],
      )
      expect(rows).toHaveLength(1)
      const [{ items, request, transaction_id }] = rows
      const text = await server.context.bodies.decryptBody(request, `exchange ${correlation_id} request`)
      return { items, transaction_id, ...JSON.parse(text) }
    },
    async acceptedCount() {
      const { rows } = await db.pool.query('select count(*) as count from accepted_exchange')
      return rows[0].count
    },
  }
}

export const sha256 = (file: string | Buffer, encoding: 'hex' | 'base64url' = 'hex'): string =>
  createHash('sha256').update(file).digest(encoding)

/** The envelope of a file: its header, and the file's digest. */
export function envelopeOf(
  file: string | Buffer,
  { header = {}, message = {} }: { header?: object; message?: object } = {},
  sender_id = 'spmis.demo',
) {
  const request = searchRequest(sender_id, {}, { header: { total_count: 0, ...header } })
  return {
    header: { ...request.header, message_ts: new Date().toISOString() },
    message: { transaction_id: 'tx-file', file_sha256: sha256(file), ...message },
  }
}

export const csvOf = (rows: readonly (readonly string[])[]): string =>
  ['identifier_type,identifier_value', ...rows.map((row) => row.join(','))].join('\r\n')

export const itemOf = (reference_id: string, value = 'x') => ({
  reference_id,
  timestamp: '2026-02-03T09:15:00.000Z',
  search_criteria: { query_type: 'idtype-value', query: { type: 'UIN', value } },
})
