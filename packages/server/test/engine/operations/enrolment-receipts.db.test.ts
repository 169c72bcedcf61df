/** Answers to enrolment updates that are signed or encrypted, and what a question about them is answered with. */
import { randomUUID } from 'node:crypto'
import { forgetExchanges } from '@rollcall/engine/store/exchanges/forget-exchanges'
import { describe, expect, it } from 'vitest'
import { rawConnection } from '../../../../engine/test/raw-http.ts'
import { beneficiary, enrolmentServer, updatesMessage } from '../../enrolment-updates.ts'
import { encrypted, expectSealed, opened, publishedKey, sealingPeer, signedBody } from '../../sealing.ts'
import type { TestParticipant } from '../../server.ts'
import { askStatus } from '../../txn-status.ts'

const { server, sp, send, found } = await enrolmentServer()
await server.registry('ibr', [], 'elsewhere')
const peer = await sealingPeer(server, 'signing.example', { decrypts: 'RSA' })
const now = () => ({ message_ts: new Date().toISOString() })

const ask = (by: TestParticipant, attribute_type: string, value: unknown, namespace = 'ibr') =>
  askStatus(server, by, attribute_type, value, { namespace, more: { txn_type: 'receipt' } })

describe('an answer', () => {
  it('to a raw signed message is a signed envelope, with its members beside it (D8)', async () => {
    const raw = signedBody(peer, updatesMessage(peer, [beneficiary('U-1')], { header: now() }))
    const connection = await rawConnection(server.running.port)
    connection.write(
      `POST /ibr/v1.0.0/registry/enrollments/updates HTTP/1.1\r\nHost: ibr.example\r\n`,
      `Authorization: Bearer ${peer.token}\r\nContent-Type: application/json\r\n`,
      `Content-Length: ${Buffer.byteLength(raw)}\r\n\r\n${raw}`,
    )
    const { status, body: text } = await connection.response()
    connection.destroy()
    const body = JSON.parse(text)
    await expectSealed(server, { status, body, headers: new Headers() }, 'ibr.example')
    const { header, message, signature: _, ...beside } = body
    expect(header).toMatchObject({ action: 'notify', status: 'succ', total_count: 1, completed_count: 1 })
    expect(beside).toEqual(message)
    expect(message).toEqual({
      transaction_id: 'tx-1',
      correlation_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      enrolled_response: [{ reference_id: 'U-1', timestamp: expect.any(String), status: 'succ' }],
    })
  })

  it('to an encrypted message shows none of its members in clear, nor does its receipt', async () => {
    const key = await publishedKey(server, 'RSA-OAEP-256')
    const transaction_id = `tx-${randomUUID()}`
    const clear = updatesMessage(peer, [beneficiary('U-2')], { header: now(), message: { transaction_id } })
    const answer = await send(signedBody(peer, encrypted(clear, key)), { by: peer })
    await expectSealed(server, answer, 'ibr.example')
    expect(Object.keys(answer.body).toSorted()).toEqual(['header', 'message', 'signature'])
    expect(JSON.stringify(answer.body)).not.toMatch(/U-2|enrolled_response|correlation_id|tx-/)
    const message = opened(answer, peer)
    expect(message).toMatchObject({ transaction_id, enrolled_response: [{ reference_id: 'U-2' }] })
    const question = {
      reference_id: 'q-1',
      txn_type: 'receipt',
      attribute_type: 'transaction_id',
      attribute_value: transaction_id,
    }
    const asked = {
      header: { ...clear.header, ...now(), message_id: `m-${randomUUID()}`, action: 'txn-status' },
      message: { transaction_id: 'tx-question', txnstatus_request: question },
    }
    const told = await send(signedBody(peer, asked), { by: peer, path: 'registry/sync/txn/status' })
    expect(opened(told, peer).txnstatus_response.txn_status).toEqual(message)
  })
})

describe('a receipt', () => {
  const sent = async (beneficiaries: unknown) => {
    const transaction_id = `tx-${randomUUID()}`
    const { body } = await send(updatesMessage(sp, beneficiaries, { message: { transaction_id } }))
    return body.message
  }

  it('is the answer, by transaction_id and by correlation_id', async () => {
    const message = await sent([beneficiary('U-10'), beneficiary('U-11', 0.5)])
    for (const name of ['transaction_id', 'correlation_id']) {
      const { header, message: answer } = await ask(sp, name, message[name])
      expect(answer.txnstatus_response).toEqual({ txn_type: 'receipt', txn_status: message })
      expect(header).toMatchObject({
        status: 'succ',
        total_count: 2,
        completed_count: 2,
        status_reason_message: '1 of 2 beneficiaries rejected; see each item',
      })
    }
  })

  it('is found by a transaction_id of 99 characters of two code units each', async () => {
    const transaction_id = '😀'.repeat(99)
    const { body } = await send(updatesMessage(sp, [beneficiary('U-16')], { message: { transaction_id } }))
    for (const name of ['transaction_id', 'correlation_id']) {
      const { message: answer } = await ask(sp, name, body.message[name])
      expect(answer.txnstatus_response.txn_status).toEqual(body.message)
    }
  })

  it('is there for an update of which nothing was written', async () => {
    const message = await sent([{}])
    const { message: answer } = await ask(sp, 'transaction_id', message.transaction_id)
    expect(answer.txnstatus_response.txn_status).toEqual(message)
  })

  it('is for its sender, at its registry', async () => {
    const other = await server.participant('other.example')
    const { transaction_id } = await sent([beneficiary('U-12')])
    for (const answer of [
      await ask(other, 'transaction_id', transaction_id),
      await ask(sp, 'transaction_id', transaction_id, 'elsewhere'),
      await ask(sp, 'transaction_id', 'tx-none'),
    ]) {
      expect(answer.header).toMatchObject({
        status: 'rjct',
        total_count: 1,
        status_reason_message: 'txnstatus_request: names no transaction of this type that the sender has with this registry',
      })
    }
  })

  it('is encrypted at rest, and forgotten with its exchange', async () => {
    const { pool } = server.database.db
    const { transaction_id } = await sent([beneficiary('U-13')])
    const { rows } = await pool.query('select body from enrolment_receipt')
    expect(rows.length).toBeGreaterThan(3)
    for (const { body } of rows) expect(body.toString()).not.toMatch(/U-1|enrolled|succ/)
    await pool.query("update enrolment_receipt set received_at = now() - interval '10 days'")
    await forgetExchanges(server.database.db, 5 * 86_400)
    const { header } = await ask(sp, 'transaction_id', transaction_id)
    expect(header).toMatchObject({
      status: 'rjct',
      status_reason_message:
        'no answer is kept: it is not answered yet, it failed, or its answer is forgotten; the same message may be sent again',
    })
    expect(await found('UIN', 'U-13')).toHaveLength(1)
  })
})
