/** Questions about transactions: how they are asked, and what tests of them begin with. */
import { randomUUID } from 'node:crypto'
import { TxnStatusResponse, validator } from '@rollcall/protocol'
import { afterAll, expect } from 'vitest'
import { type AsyncPeer, accepted, asyncPeer, searchFor } from './asynchronous.ts'
import { bearer, post, type TestParticipant, type TestServer, testServer } from './server.ts'

const statusResponses = validator(TxnStatusResponse)

/** A valid question about a transaction, which tests change. */
export function question(by: TestParticipant, attribute_type: string, attribute_value: unknown, more: object = {}) {
  return {
    header: {
      version: '1.0.0',
      message_id: `m-${randomUUID()}`,
      message_ts: new Date().toISOString(),
      action: 'txn-status',
      sender_id: by.sender_id,
      total_count: 1,
      meta: {},
    },
    message: {
      transaction_id: 'tx-question',
      txnstatus_request: { reference_id: 'q-1', txn_type: 'search', attribute_type, attribute_value, ...more },
    },
  }
}

/** Asks synchronously, and returns the envelope of the answer, which must have the documented shape. */
export async function askStatus(
  server: TestServer,
  by: TestParticipant,
  attribute_type: string,
  attribute_value: unknown,
  { namespace = 'civil', more = {} }: { namespace?: string; more?: object } = {},
) {
  const url = `${server.url}/${namespace}/v1.0.0/registry/sync/txn/status`
  const answer = await post(url, question(by, attribute_type, attribute_value, more), bearer(by))
  expect(answer.status, JSON.stringify(answer.body).slice(0, 500)).toBe(200)
  expect(answer.body.header.action).toBe('txn-on-status')
  expect(statusResponses.problem(answer.body.message, 'message')).toBeNull()
  return answer.body
}

export const person = (n: number) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: `U${n}` }],
  name: { surname: 'Okoro', given_name: `p${n}` },
})

/**
 * A server for the tests of one file, to be awaited at its top level: a civil registry of five people, a social one
 * without any, a participant with a receiver of callbacks, and another one. It is closed after the tests.
 */
export async function statusServer() {
  const server = await testServer()
  afterAll(async () => {
    expect(server.logged()).not.toMatch(/Okoro/)
    await server.close()
  })
  const peer: AsyncPeer = await asyncPeer(server, 'spmis.demo')
  const other = await server.participant('other.demo')
  await server.registry('civil', [1, 2, 3, 4, 5].map(person))
  await server.registry('social')
  return {
    server,
    peer,
    other,
    url: (path: string) => `${server.url}/civil/v1.0.0/registry/${path}`,
    ask: (
      attribute_type: string,
      attribute_value: unknown,
      { by = peer, ...options }: { readonly by?: TestParticipant; readonly namespace?: string; readonly more?: object } = {},
    ) => askStatus(server, by, attribute_type, attribute_value, options),
    /** Sends a search under a new transaction_id, and returns this and the correlation_id. */
    async search(items: readonly object[], by: TestParticipant = peer) {
      const transaction_id = `tx-${randomUUID()}`
      const body = searchFor(by, items)
      const message = { ...body.message, transaction_id }
      return { transaction_id, correlation_id: await accepted(server, by, { ...body, message }) }
    },
  }
}
