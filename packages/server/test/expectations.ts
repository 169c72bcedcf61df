/** Assertions about refused requests, in one place. */
import { expect } from 'vitest'
import type { Answer } from './server.ts'

/** Expects that the whole request was refused: an ack ERR that also has `errors` (D1, D2). */
export function expectFault(answer: Answer, status: number, code: string, message: string): void {
  expect({ status: answer.status, error: answer.body.message.error }).toEqual({ status, error: { code, message } })
  expect(answer.body).toEqual({
    message: {
      ack_status: 'ERR',
      timestamp: expect.stringMatching(/Z$/),
      correlation_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      error: { code, message },
    },
    errors: [{ code, message }],
  })
}

/** Expects that the header was rejected: the envelope of an on-search without items. */
export function expectRejected(answer: Answer, code: string, message: string): void {
  expect(answer.status).toBe(200)
  expect(answer.body.header).toMatchObject({
    action: 'on-search',
    status: 'rjct',
    status_reason_code: code,
    status_reason_message: message,
    total_count: 0,
    completed_count: 0,
    receiver_id: 'spmis.demo',
  })
  expect(answer.body.message).toEqual({ transaction_id: 'tx-1', correlation_id: expect.any(String), search_response: [] })
}
