/** Subscriptions for tests: requests to subscribe and to unsubscribe, each answered by a callback to a receiver. */

import { randomUUID } from 'node:crypto'
import type { GrantTerms } from '@rollcall/core/model/grant'
import type { ParticipantSettings } from '@rollcall/participants/store/participants'
import { afterAll } from 'vitest'
import type { TestSettings } from '../../settings/test/config.ts'
import { type AsyncPeer, accepted, answerExchange, asyncPeer, callbacksTo, deliverAll } from './asynchronous.ts'
import { type TestParticipant, type TestServer, testServer } from './server.ts'

export const KIND_NAMES = ['civil', 'ibr', 'ess', 'social', 'disability', 'farmer'] as const

/** An event and a record type of each kind. */
export const TYPES: Readonly<Record<string, { reg_event_type: string; notify_record_type: string }>> = {
  civil: { reg_event_type: 'LiveBirth', notify_record_type: 'Person' },
  ibr: { reg_event_type: 'enrollement', notify_record_type: 'Member' },
  ess: { reg_event_type: 'enrolment', notify_record_type: 'Member' },
  social: { reg_event_type: 'REGISTER', notify_record_type: 'Member' },
  disability: { reg_event_type: 'REGISTER', notify_record_type: 'DisabledPerson' },
  farmer: { reg_event_type: 'REGISTER', notify_record_type: 'Farmer' },
}

/** Criteria for one person, by the UIN. */
export const about = (uin: string, more: object = {}, kind = 'civil') => ({
  ...TYPES[kind],
  filter_type: 'idtype-value',
  filter: { type: 'UIN', value: uin },
  ...more,
})

export interface SubscribingServer {
  readonly server: TestServer
  newPeer(settings?: Partial<ParticipantSettings>, terms?: Partial<GrantTerms>): Promise<AsyncPeer>
}

/** A server with a registry of every kind for the tests of one file, to be awaited at its top level. */
export async function subscribingServer(env: TestSettings = {}): Promise<SubscribingServer> {
  const server = await testServer(env)
  afterAll(() => server.close())
  for (const kind of KIND_NAMES) await server.registry(kind)
  let count = 0
  return { server, newPeer: (settings, terms) => asyncPeer(server, `peer-${count++}.example`, settings, terms) }
}

interface Changes {
  readonly header?: object
  readonly message?: object
  readonly namespace?: string
}

const headerOf = ({ sender_id }: TestParticipant, action: string, more: object = {}) => ({
  version: '1.0.0',
  message_id: `m-${randomUUID()}`,
  message_ts: new Date().toISOString(),
  action,
  sender_id,
  total_count: 0,
  ...more,
})

/** Items with these criteria, named s-0, s-1 ...; those that have `subscribe_criteria` are items already. */
export const subscribeFor = (by: TestParticipant, criteria: readonly object[], changes: Changes = {}) => ({
  header: headerOf(by, 'subscribe', changes.header),
  message: {
    transaction_id: `tx-${randomUUID()}`,
    subscribe_request: criteria.map((one, index) => ({
      reference_id: `s-${index}`,
      timestamp: new Date().toISOString(),
      ...('subscribe_criteria' in one ? one : { subscribe_criteria: one }),
    })),
    ...changes.message,
  },
})

export const unsubscribeFor = (by: TestParticipant, codes: unknown, changes: Changes = {}) => ({
  header: headerOf(by, 'unsubscribe', changes.header),
  message: {
    transaction_id: `tx-${randomUUID()}`,
    timestamp: new Date().toISOString(),
    subscription_codes: codes,
    ...changes.message,
  },
})

// The shapes of callbacks are what the tests are about; naming them here would hide what is asserted.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Envelope = { readonly path: string; readonly header: any; readonly message: any }

/** Sends a request, answers it, and returns the callback that its sender got. */
export async function called(
  server: TestServer,
  by: AsyncPeer,
  body: { readonly header: { readonly action: string } },
  namespace = 'civil',
): Promise<Envelope> {
  const id = await accepted(server, by, body, body.header.action, namespace)
  await answerExchange(server, id)
  await deliverAll(server)
  return sentTo(by, id)
}

/** The callback that answers this exchange. */
export function sentTo({ receiver }: AsyncPeer, correlation_id: string): Envelope {
  const found = callbacksTo(receiver).find(({ envelope }) => envelope.message.correlation_id === correlation_id)
  if (found === undefined) throw new Error('no callback was sent')
  return { path: found.path, ...found.envelope }
}

/** Subscribes, and returns the items of the answer. */
export async function subscribed(
  server: TestServer,
  by: AsyncPeer,
  criteria: readonly object[],
  { namespace = 'civil', ...changes }: Changes = {},
  // biome-ignore lint/suspicious/noExplicitAny: as above
): Promise<readonly any[]> {
  const { message } = await called(server, by, subscribeFor(by, criteria, changes), namespace)
  return message.subscribe_response
}

/** Subscribes with these criteria, and returns the code of the subscription. */
export async function codeOf(server: TestServer, by: AsyncPeer, criteria: object, namespace = 'civil') {
  const [item] = await subscribed(server, by, [criteria], { namespace })
  return item.subscriptions[0].code as string
}

/** The subscription as it is stored, with the address of its mailbox and how many keys it is filed under. */
export const storedSubscription = async ({ database }: Pick<TestServer, 'database'>, code: string) =>
  (
    await database.db.pool.query(
      `select subscription.*, mailbox.sender_uri,
        (select count(*)::integer from subscription_key where subscription = subscription.id) as keys
       from subscription join mailbox on mailbox.id = mailbox where code = $1`,
      [code],
    )
  ).rows
