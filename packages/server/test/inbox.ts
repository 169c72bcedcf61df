/** Callbacks as another registry sends them, one of each name, and how they are acknowledged. */
import { CALLBACKS, type Callback } from '@rollcall/protocol'
import { afterAll, afterEach, expect } from 'vitest'
import { type Answer, bearer, post, type TestParticipant, type TestServer, testServer } from './server.ts'

export const SENDER = 'crvs.example'

const NOW = '2026-02-03T09:15:00.000Z'
const ids = (transaction_id = 'tx-1') => ({ transaction_id, correlation_id: 'c-0001' })
export const item = { reference_id: 'r-1', timestamp: NOW, status: 'succ' }
export const event = { reference_id: 'e-1', timestamp: NOW, data: { reg_record_type: 'Person', reg_records: { name: 'Okoro' } } }

/** A valid message of each callback. */
const MESSAGES: Readonly<Record<string, object>> = {
  'on-search': { ...ids(), search_response: [{ ...item, data: { reg_records: [{ name: 'Okoro' }] } }] },
  'on-subscribe': { ...ids(), subscribe_response: [item] },
  'on-unsubscribe': { ...ids(), timestamp: NOW, status: 'succ' },
  'txn-on-status': { ...ids(), txnstatus_response: { txn_type: 'search', txn_status: { ...ids(), search_response: [item] } } },
  notify: { transaction_id: 'tx-1', notify_event: [event] },
}

let count = 0
/** A valid callback of this name, which tests change. */
export function envelope(name: string, { header = {}, message = {} }: { header?: object; message?: object | null } = {}) {
  const row = rowOf(name)
  count += 1
  return {
    header: {
      version: '1.0.0',
      message_id: `in-${count}`,
      message_ts: new Date().toISOString(),
      action: row.action,
      status: 'succ',
      sender_id: SENDER,
      receiver_id: 'civil.example',
      ...header,
    },
    ...(message !== null && { message: { ...MESSAGES[name], ...message } }),
  }
}

export function rowOf(name: string): Callback {
  const row = CALLBACKS.find((callback) => callback.name === name)
  if (row === undefined) throw new Error(`no callback ${name}`)
  return row
}

/** Sends a callback to its path. */
export const sendCallback = (
  at: TestServer,
  name: string,
  body: string | object,
  by: TestParticipant,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => post(`${at.url}/civil/v1.0.0/${rowOf(name).path}`, body, { ...bearer(by), ...headers })

export function expectAck(answer: Answer, correlation_id: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/)): void {
  expect([answer.status, answer.body]).toEqual([
    200,
    { message: { ack_status: 'ACK', timestamp: expect.stringMatching(/Z$/), correlation_id } },
  ])
}

/** A server for the tests of one file, to be awaited at its top level, and a registry that sends callbacks to it. */
export async function inboxServer() {
  const server = await testServer({ limits: { batch_items: 10, participant_rate: 1_000_000 } })
  afterEach(() => expect(server.logged()).not.toMatch(/Okoro/))
  afterAll(() => server.close())
  const registry = await server.participant(SENDER)
  await server.registry('civil')
  return {
    server,
    registry,
    send: (
      name: string,
      body: string | object,
      by: TestParticipant = registry,
      at = server,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Answer> => sendCallback(at, name, body, by, headers),
  }
}
