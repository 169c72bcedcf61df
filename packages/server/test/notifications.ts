/** Subscriptions, events and notifications written by SQL, for tests of what is done with them. */
import { randomUUID } from 'node:crypto'
import type { FilterTransition, NotificationPurpose } from '@rollcall/core/model/event'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { canonicalJson, type JsonObject } from '@rollcall/protocol'
import type { WaitingNotification } from '../../delivery/src/store/events/waiting.ts'
import type { TestDatabase } from '../../keys/test/postgres.ts'
import type { Received } from './deliveries.ts'

export interface Subscribed {
  readonly id: number
  readonly code: string
  readonly mailbox: number
}

interface SubscriptionChanges {
  /** The sender_uri of the subscribe request; null: none. */
  readonly sender_uri?: string | null
  readonly event_type?: string
  readonly record_type?: string
  /** The criteria as the subscriber wrote them. */
  readonly criteria?: JsonObject
  readonly locale?: string
  readonly encrypted?: boolean
}

interface EventChanges {
  readonly event_type?: string
  readonly record_type?: string
  readonly record?: number
  readonly document?: JsonObject | null
  readonly identifiers?: JsonObject
}

interface NotificationChanges {
  readonly presence?: FilterTransition
  readonly purpose?: NotificationPurpose
  /** Seconds from now. */
  readonly due?: number
  readonly corrects?: number
}

/** Writes rows in tests of one registry. */
export function eventRows({ db }: Pick<TestDatabase, 'db'>, registry: Pick<Registry, 'id'>) {
  const row = async <Row extends object>(text: string, values: unknown[]): Promise<Row> => {
    const { rows } = await db.pool.query<Row>(text, values)
    const [found] = rows
    if (found === undefined) throw new Error('nothing was written')
    return found
  }
  return {
    async subscribe(participant: Pick<Participant, 'id'>, changes: SubscriptionChanges = {}): Promise<Subscribed> {
      const { sender_uri = null, event_type = 'LiveBirth', record_type = 'Person', locale = null } = changes
      const { id: mailbox } = await row<{ id: number }>(
        `insert into mailbox (participant, registry, sender_uri) values ($1, $2, $3)
          on conflict (participant, registry, sender_uri) do update set sender_uri = excluded.sender_uri returning id`,
        [participant.id, registry.id, sender_uri ?? ''],
      )
      const code = `SUB-${randomUUID()}`
      const criteria = canonicalJson(changes.criteria ?? { reg_event_type: event_type })
      return row<Subscribed>(
        `insert into subscription (code, participant, registry, mailbox, event_type, record_type, fingerprint, criteria,
            locale, encrypted, transaction_id, correlation_id, reference_id)
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'tx-1', $11, 'r-1') returning id, code, mailbox`,
        [
          ...[code, participant.id, registry.id, mailbox, event_type, record_type, Buffer.from(code)],
          ...[criteria, locale, changes.encrypted ?? false, randomUUID()],
        ],
      )
    },

    /** Writes an event with its record. @param uin the UIN in the record, by which a test knows the event */
    async event(uin: string, changes: EventChanges = {}): Promise<number> {
      const { event_type = 'LiveBirth', record_type = 'Person', record = 1 } = changes
      const identifiers = changes.identifiers ?? { identifier: [uinOf(uin)] }
      const document = changes.document === undefined ? { identifier: [uinOf(uin)], sex: 'female' } : changes.document
      const { id } = await row<{ id: number }>(
        `insert into event (registry, event_type, record_type, record, record_version, occurred_at, document, identifiers)
          values ($1, $2, $3, $4, (extract(epoch from clock_timestamp()) * 1000000)::bigint, '2026-02-03T09:15:00Z', $5, $6) returning id`,
        [
          ...[registry.id, event_type, record_type, record],
          ...[document === null ? null : canonicalJson(document), canonicalJson(identifiers)],
        ],
      )
      return id
    },

    /** Writes a notification that waits. @returns its id */
    async notify({ id, mailbox }: Subscribed, event: number, changes: NotificationChanges = {}): Promise<number> {
      const { presence = 'entered', purpose = 'event', due = 0, corrects = null } = changes
      const written = await row<{ id: number }>(
        `insert into notification (mailbox, event, subscription, presence, purpose, corrects, due_at)
          values ($1, $2, $3, $4, $5, $6, statement_timestamp() + make_interval(secs => $7)) returning id`,
        [mailbox, event, id, presence, purpose, corrects, due],
      )
      return written.id
    },

    /** The states of all notifications, in the order of their ids. */
    async states(): Promise<readonly string[]> {
      const { rows } = await db.pool.query<{ state: string }>('select state from notification order by id')
      return rows.map(({ state }) => state)
    },
  }
}

const uinOf = (uin: string) => ({ identifier_type: 'UIN', identifier_value: uin })

/** The envelope in a received body. */
export const envelopeOf = ({ body }: Received) => JSON.parse(body)

/** The UINs of the records of an envelope, in order. */
export const uinsOf = (received: Received): readonly string[] =>
  envelopeOf(received).message.notify_event.map(
    // biome-ignore lint/suspicious/noExplicitAny: what was sent is what is asserted
    ({ data }: any) => data.reg_records.identifier[0].identifier_value,
  )

/** A notification as it is found in its mailbox. */
export const waiting = (changes: Partial<WaitingNotification>): WaitingNotification => ({
  id: 1,
  mailbox: 1,
  presence: 'entered',
  purpose: 'event',
  reference_id: null,
  corrected_reference_id: null,
  replaced_by: null,
  corrected_notification: null,
  event: 1,
  event_type: 'LiveBirth',
  record_type: 'Person',
  record: '1',
  record_version: 1,
  occurred_at: new Date(0),
  recorded_at: new Date(0),
  bytes: 100,
  subscription: 1,
  code: 'SUB-1',
  subscribed: 'LiveBirth',
  asked_event_type: null,
  asked_reg_type: null,
  asked_record_type: null,
  locale: null,
  encrypted: false,
  unfiltered: false,
  unwanted: false,
  consent: null,
  ...changes,
})
