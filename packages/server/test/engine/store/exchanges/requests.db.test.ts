/** Requests, each in one statement with the audit entry of its acknowledgement or its answer. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { AuditEntry } from '@rollcall/core/model/audit-entry'
import type { Participant } from '@rollcall/core/model/participant'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  isSmallRequest,
  type NewAcceptedExchange,
  type NewExchange,
  REQUEST_JOINT_WRITE,
} from '../../../../../engine/src/store/exchanges/exchanges.ts'
import { auditEntry, storedEntries } from '../../../../../settings/test/audit-log.ts'
import { type TestSender, takes, testSender } from '../../../deliveries.ts'

let sender: TestSender
let participant: Participant
beforeAll(async () => {
  sender = await testSender()
})
beforeEach(async () => {
  participant = await takes(sender, `${randomUUID()}.example`, 'http://127.0.0.1:1/')
})
afterAll(() => sender.close())

function request(changes: Partial<NewAcceptedExchange> = {}): NewAcceptedExchange {
  const correlation_id = changes.correlation_id ?? randomUUID()
  return {
    correlation_id,
    participant: participant.id,
    message_id: randomUUID(),
    fingerprint: randomBytes(32),
    registry: sender.registry.id,
    operation: 'search',
    transaction_id: 'tx-1',
    accepted: {
      sender_uri: null,
      encrypted: false,
      reference_ids: ['a'],
      chunks: [{ id: correlation_id, request: Buffer.from('sealed'), request_bytes: 6, items: 1 }],
    },
    ...changes,
  }
}

/** A message that is answered now: equal ones have one correlation_id. */
function question(changes: Partial<NewExchange> = {}): NewExchange {
  const { accepted: _, ...others } = request()
  return { ...others, ...changes }
}

const entryOf = ({ correlation_id, accepted }: NewExchange): AuditEntry =>
  auditEntry({ kind: accepted === undefined ? 'answer' : 'acknowledgement', participant: participant.sender_id, correlation_id })
const accept = (asked: NewExchange) => sender.context.auditLog.writeWith(REQUEST_JOINT_WRITE, asked, entryOf(asked), [])

/** The correlation_ids of requests that stand, of their entries, and how many are counted today. */
async function stored() {
  const { rows } = await sender.database.db.pool.query(
    `select array(select correlation_id::text from accepted_exchange where participant = $1 order by 1) as accepted,
      array(select correlation_id::text from exchange_reference where participant = $1 order by 1) as named,
      (select messages::integer from accepted_day where participant = $1) as counted`,
    [participant.id],
  )
  const stored = await storedEntries(sender.database.db)
  const entries = stored.map(({ entry }) => entry).filter((entry) => entry.participant === participant.sender_id)
  return { ...rows[0], entries: entries.map(({ correlation_id }) => correlation_id).toSorted() }
}

test('of equal messages at once one is accepted, with its entry; others at that time are not touched', async () => {
  const first = request()
  const again = request({ message_id: first.message_id, fingerprint: first.fingerprint })
  const other = request()
  const different = request({ message_id: other.message_id })
  expect(await Promise.all([first, again, other, different].map(accept))).toEqual([true, false, true, false])
  const ids = [first, other].map(({ correlation_id }) => correlation_id).toSorted()
  expect(await stored()).toEqual({ accepted: ids, named: ids, entries: ids, counted: 2 })
  expect(await accept(again)).toBe(false)
  expect(await stored()).toMatchObject({ entries: ids, counted: 2 })
})

/** The rows of the message memory, and the correlation_ids of the entries. */
async function remembered() {
  const { rows } = await sender.database.db.pool.query(
    `select correlation_id, received_at < now() - interval '1 minute' as is_old from exchange
      where participant = $1 order by correlation_id`,
    [participant.id],
  )
  return { rows, entries: (await stored()).entries }
}

test('of messages that are answered at once each has an entry, except another content under one message_id', async () => {
  const first = question()
  const { message_id } = first
  const other = question({ age: 60_001 })
  const asked = [first, first, question({ message_id }), other, request({ message_id }), question({ message_id })]
  expect(await Promise.all(asked.map(accept))).toEqual([true, true, false, true, false, false])
  const [a, b] = [first.correlation_id, other.correlation_id].toSorted()
  const rows = [a, b].map((correlation_id) => ({ correlation_id, is_old: correlation_id === other.correlation_id }))
  expect(await remembered()).toEqual({ rows, entries: [first, first, other].map((one) => one.correlation_id).toSorted() })
  // Later, alone: the memory decides.
  expect(await accept(first)).toBe(true)
  expect(await accept(question({ message_id }))).toBe(false)
  expect(await accept(question({ message_id, fingerprint: first.fingerprint }))).toBe(false)
  expect(await remembered()).toMatchObject({ rows })
  expect(new Set((await storedEntries(sender.database.db)).map(({ chain }) => chain)).size).toBe(1)
})

test('a value that PostgreSQL refuses fails alone, and its chain goes on', async () => {
  await accept(request())
  const asked = [request(), request({ message_id: 'no \u0000 here' }), request()]
  const results = await Promise.allSettled(asked.map(accept))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  const chains = (await storedEntries(sender.database.db)).map(({ chain }) => chain)
  expect(new Set(chains).size).toBe(1)
  expect((await stored()).entries).toHaveLength(3)
})

test('a large request is written by itself', () => {
  const large = request()
  const [chunk] = large.accepted.chunks
  if (chunk === undefined) throw new Error('a request has a chunk')
  const chunks = [{ ...chunk, request: Buffer.alloc(300_000) }]
  expect(isSmallRequest(request())).toBe(true)
  expect(isSmallRequest({ ...large, accepted: { ...large.accepted, chunks } })).toBe(false)
})
