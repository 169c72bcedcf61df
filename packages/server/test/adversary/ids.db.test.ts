/** What a participant learns from ids, numbers and times: nothing of events, messages and sessions that are not its own. */
import { hash } from 'node:crypto'
import { listMailboxes } from '@rollcall/admin/deliveries/mailboxes'
import { publishEvent } from '@rollcall/admin/events/publish'
import { showSubscription } from '@rollcall/admin/events/subscriptions'
import { traceMessages } from '@rollcall/admin/messages/trace'
import { keysOfFilter } from '@rollcall/core/events/filing'
import { AckMessage, CALLBACKS, CallbackHeader, EncryptedMessage, ErrorAnswer, OPERATIONS } from '@rollcall/protocol'
import type { TSchema } from 'typebox'
import { beforeEach, expect, test } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { PARTNER_ROUTES } from '../../src/http/partner/routes.ts'
import { answering, type Receiver } from '../deliveries.ts'
import { mailboxSender } from '../mailboxes.ts'
import { envelopeOf } from '../notifications.ts'
import { partnerCode } from '../partner.ts'

const { server, rows, newPeer, until, receiver } = await mailboxSender()
const { db } = server.database
let peer: Receiver
beforeEach(() => {
  peer = receiver()
})

/** Every text and number that leaves, and why it tells nothing of others. */
const LEAVES: Readonly<Record<string, readonly string[]>> = {
  'random: 120 bits at least': [
    ...['message_id', 'transaction_id', 'correlation_id', 'code', 'subscriptions', 'mailbox', 'client_id'],
    ...['ciphertext', 'encrypted_key', 'tag', 'iv'],
  ],
  'under the key of its mailbox; in other messages what the receiver sent': ['reference_id', 'corrects'],
  'counts only what its reader has seen, or may see': [
    ...['sequence', 'total_count', 'completed_count', 'page', 'page_number', 'page_size', 'attempts', 'number'],
    ...['used', 'messages', 'bytes', 'live', 'suspended', 'deliveries', 'in_closed_mailboxes', 'max_page_size'],
  ],
  'the second of an import or publication': ['record_version', 'occurred_at', 'recorded_at'],
  'the time of the message, or of what its reader did': [
    ...['timestamp', 'message_ts', 'at', 'duration_ms', 'created_at', 'ended_at', 'finished_at', 'next_attempt_at'],
    ...['first_used_at', 'last_used_at', 'last_seen'],
  ],
  'what its reader asked for': [
    ...['version', 'locale', 'type', 'value', 'seq_num', 'attribute_name', 'attribute_value', 'start_time', 'end_time'],
    ...['filter', 'frequency', 'notify_record_type', 'cron', 'start_at', 'end_at', 'event_type', 'record_type', 'callback'],
    ...['target', 'receiver_id', 'receipt_type', 'path', 'curl', 'typescript', 'python', 'java'],
  ],
  'a setting of the registry, or of its reader': [
    ...['sender_id', 'name', 'namespace', 'title', 'kid', 'alg', 'enc', 'algorithm', 'thumbprint', 'jwks_uri'],
    ...['valid_from', 'valid_until', 'revoked_at', 'allowed', 'default_url', 'notify_url', 'rate_limit'],
    ...['concurrency_limit', 'most', 'most_messages', 'most_bytes', 'max_subscriptions', 'about', 'words'],
  ],
  'a word of the protocol, or a text': [
    ...['reg_type', 'reg_record_type', 'reg_event_type', 'action', 'status', 'message', 'status_reason_message'],
    ...['text', 'meaning', 'advice'],
  ],
  'a member of a record, which the grant lets be seen': ['identifier_type', 'identifier_value', 'enrolled_status'],
}

/** The names of the members of a schema that hold any text or number. */
function namesIn(schema: TSchema | null | undefined, name = ''): readonly string[] {
  if (schema === null || schema === undefined) return []
  const described: Described = schema
  const { type = '', items, anyOf = [], properties = {}, patternProperties = {} } = described
  const isOpen = ['string', 'integer', 'number'].includes(type) && !('enum' in schema) && !('const' in schema)
  return [
    ...(isOpen ? [name] : []),
    ...[items, ...anyOf, ...Object.values(patternProperties)].flatMap((inner) => namesIn(inner, name)),
    ...Object.entries(properties).flatMap(([member, inner]) => namesIn(inner, member)),
  ]
}

/** A schema of a message. */
interface Described {
  readonly type?: string
  readonly items?: TSchema
  readonly anyOf?: readonly TSchema[]
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly patternProperties?: Readonly<Record<string, TSchema>>
}

test('each member that leaves is in the list, which says why it tells nothing of others', () => {
  const schemas = [
    ...OPERATIONS.map(({ reply }) => reply.schema),
    ...CALLBACKS.flatMap(({ message, meta }) => [message.schema, meta]),
    ...[CallbackHeader, AckMessage, EncryptedMessage, ErrorAnswer],
    ...PARTNER_ROUTES.map(({ result }) => result),
  ]
  const listed = Object.values(LEAVES).flat()
  expect([...new Set(schemas.flatMap((schema) => namesIn(schema)))].toSorted()).toEqual(listed.toSorted())
})

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const uuidOf = (digest: Buffer): string =>
  digest.toString('hex', 0, 16).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
const int8 = (number: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(number))
  return bytes
}

test('a notification tells nothing of the events between it and the one before', async () => {
  const subscribed = await rows.subscribe(await newPeer({ notify_items: 1 }))
  for (const { key, whole } of keysOfFilter(null)) {
    await db.pool.query(`insert into subscription_key values ($1, 'LiveBirth', 'Person', $2, $3, $4)`, [
      ...[server.registry.id, key, subscribed.id, whole],
    ])
  }
  peer.answer = answering(200)
  let count = 0
  const publish = (reg_event_type: string) => {
    const record = { identifier: [{ identifier_type: 'UIN', identifier_value: `U-${count++}` }] }
    return publishEvent(acting({ db, limits: server.context.limits }), { namespace: 'civil', reg_event_type, record })
  }
  for (const hidden of [0, 7, 3]) {
    for (let at = 0; at < hidden; at += 1) await publish('UPDATE')
    expect(await publish('LiveBirth')).toMatchObject({ matched: 1 })
  }
  await until(() => expect(peer.received).toHaveLength(3))
  const envelopes = peer.received.map(envelopeOf)
  const { rows: events } = await db.pool.query(
    `select event.id, reference_key, public_id from event join notification on notification.event = event.id
      join mailbox on mailbox.id = notification.mailbox order by event.id`,
  )
  const [{ reference_key, public_id }] = events
  for (const [at, { header, message }] of envelopes.entries()) {
    const { sequence, mailbox, record_version, recorded_at, occurred_at } = header.meta
    const [{ reference_id, timestamp }] = message.notify_event
    expect([sequence, mailbox]).toEqual([at + 1, public_id])
    for (const id of [header.message_id, message.transaction_id, mailbox]) expect(id).toMatch(UUID)
    expect(reference_id).toBe(uuidOf(hash('sha256', Buffer.concat([reference_key, int8(events[at].id)]), 'buffer')))
    const second = new Date(record_version[reference_id] / 1_000).toISOString()
    expect(second).toMatch(/:\d\d\.000Z$/)
    expect([recorded_at[reference_id], occurred_at[reference_id], timestamp]).toEqual([second, second, second])
  }
  // The receiver knows public_id, but not the key: no number can be guessed.
  const ids = envelopes.map(({ message }) => message.notify_event[0].reference_id)
  const guessed = Array.from({ length: 2 * events[2].id }, (_, number) => [
    uuidOf(hash('sha256', `${public_id}${number}`, 'buffer')),
    uuidOf(hash('sha256', Buffer.concat([Buffer.from(public_id.replaceAll('-', ''), 'hex'), int8(number)]), 'buffer')),
  ]).flat()
  expect(ids.filter((id) => guessed.includes(id))).toEqual([])
  // The key is told to nobody.
  const told = JSON.stringify([
    envelopes,
    await listMailboxes({ db }, {}),
    await showSubscription(acting({ db }), { code: subscribed.code }),
    await traceMessages(acting(server.context), { id: ids[0] }),
  ])
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    expect(told).not.toContain(reference_key.toString(encoding))
  }
})

test('the id in a link to the partner page is a time, and counts no links of others', async () => {
  const { sender_id } = await newPeer()
  const newId = async () => Number((await partnerCode(server, sender_id)).split('_')[0])
  const [one, other] = [await newId(), await newId()]
  expect(other).toBeGreaterThan(one)
  for (const id of [one, other]) expect(Math.abs(id / 100 - Date.now())).toBeLessThan(3_600_000)
})
