/** Notifications that an operator asks for: a test, and a backfill of the records that match already. */

import type { GivenFor } from '@rollcall/core/model/consent'
import type { Predicate } from '@rollcall/core/model/predicate'
import type { RegistryShape } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { MAILBOXES, WORK_CHANNEL } from '@rollcall/database/queue'
import type { RecordType } from '@rollcall/protocol'
import { recordTable } from '@rollcall/records/records/record-tables'
import { toSql } from '@rollcall/records/records/sql/to-sql'
import { REGISTRIES } from '@rollcall/records/registries/registry-names'
import type { ClientBase } from 'pg'
import { referenceOf } from './events.ts'
import { GIVEN_FOR } from './find-subscriptions.ts'

/** A subscription for which something is queued. */
export interface QueuedSubscription {
  readonly id: number
  /** `Participant.id` */
  readonly participant: number
  readonly mailbox: number
  readonly mailbox_state: 'open' | 'closed'
  /** `Registry.id` */
  readonly registry: number
  /** Its namespace. */
  readonly namespace: string
  readonly state: 'live' | 'suspended' | 'ended'
  /** Canonical names. */
  readonly event_type: string
  readonly record_type: string
  /** Of its consent; null: it has none. */
  readonly consent: GivenFor | null
  /** Canonical text of its criteria. */
  readonly criteria: string
}

/** Undefined: there is none with this code. */
export async function findQueued(
  client: Pick<ClientBase, 'query'>,
  code: string,
): Promise<QueuedSubscription | undefined> {
  const { rows } = await client.query<QueuedSubscription>(
    `select subscription.id, subscription.participant, mailbox, mailbox.state as mailbox_state, subscription.registry, namespace,
        subscription.state, event_type, record_type, criteria, ${GIVEN_FOR} as consent
      from subscription join mailbox on mailbox.id = subscription.mailbox
        join ${REGISTRIES} as registry on registry.id = subscription.registry
      where code = $1`,
    [code],
  )
  return rows[0]
}

/** Queues one notification about a record that nobody has. */
export async function queueTest(
  { pool }: Pick<Database, 'pool'>,
  { id, mailbox, registry, event_type, record_type }: QueuedSubscription,
  document: string,
): Promise<void> {
  await pool.query(
    `with made as (
        insert into event (registry, event_type, record_type, record, record_version, occurred_at, document, matched, purpose)
        values ($1, $2, $3, 0, 0, now(), $4, 1, 'test') returning id
      ),
      queued as (
        insert into notification (mailbox, event, subscription, presence, purpose, reference_id, due_at)
        select mailbox.id, made.id, $6, 'entered', 'test', ${referenceOf('mailbox', 'made.id')}, statement_timestamp()
        from made, mailbox where mailbox.id = $5 returning mailbox
      )
      select pg_notify($7, $8::text || mailbox) from queued`,
    [registry, event_type, record_type, document, mailbox, id, WORK_CHANNEL, MAILBOXES],
  )
}

/** Which records are queued, and where the page begins. */
export interface BackfillPage {
  readonly recordType: RecordType
  /** With ages bound to a day (`atDay`); null: all records. */
  readonly predicate: Predicate | null
  /** Only those that were written at this time or later; null: all. */
  readonly since: Date | null
  /** The record up to which it was queued before: 0 at the beginning. */
  readonly from: number
  /** Records in one statement. */
  readonly limit: number
}

/** What a page has queued. */
export interface QueuedPage {
  readonly records: number
  /** The last of them. */
  readonly last: number
}

/** A backfill that did not come to its end. */
export interface OpenBackfill {
  /** The record up to which it is queued. */
  readonly last: number
  /** As `BackfillPage.since`. */
  readonly since: Date | null
}

/** Null: none is under way. */
export async function openBackfill(
  { pool }: Pick<Database, 'pool'>,
  subscription: number,
): Promise<OpenBackfill | null> {
  const { rows } = await pool.query<OpenBackfill>(
    `select backfilled as last, backfilled_since as since from subscription
      where id = $1 and backfilled is not null`,
    [subscription],
  )
  return rows[0] ?? null
}

/**
 * Queues a page of the records that match now, each as it is with the version of its last event, and notes how far it is:
 * all in one statement, and nothing passes through this process. An item names the day on which its record was written: the
 * time would show which records one batch of an import wrote, and so how many hidden persons are among them. Null: another
 * backfill goes on from there.
 */
export async function queueBackfill(
  { pool }: Pick<Database, 'pool'>,
  registry: RegistryShape,
  { id, event_type, record_type }: QueuedSubscription,
  { recordType, predicate, since, from, limit }: BackfillPage,
): Promise<QueuedPage | null> {
  const table = recordTable(registry, recordType)
  const condition = predicate === null ? { text: 'true', values: [] } : toSql(predicate, table)
  const first = condition.values.length
  const [own, after, time, most, of, kind, about] = [1, 2, 3, 4, 5, 6, 7].map((nth) => `$${first + nth}`)
  const { rows } = await pool.query<{ held: boolean; records: number; last: number }>(
    `with held as (
        select id, mailbox from subscription
        where id = ${own}::integer and coalesce(backfilled, 0) = ${after}::bigint and state = 'live' for no key update
      ),
      page as materialized (
        select record.id, record.document, record.updated_at from ${quoteName(table.table)} as record
        where exists (select 1 from held) and record.id > ${after}::bigint and (${condition.text})
          and (${time}::timestamptz is null or record.updated_at >= ${time}::timestamptz)
        order by record.id limit ${most}::integer
      ),
      made as (
        insert into event (registry, event_type, record_type, record, record_version, occurred_at, document, matched,
          purpose)
        select ${of}::integer, ${kind}::text, ${about}::text, page.id, coalesce((
            select max(record_version) from event
            where registry = ${of}::integer and record_type = ${about}::text and record = page.id), 0),
          date_trunc('day', page.updated_at, 'UTC'), page.document, 1, 'backfill'
        from page order by page.id returning id, record
      ),
      queued as (
        insert into notification (mailbox, event, subscription, presence, purpose, reference_id, due_at)
        select mailbox.id, made.id, ${own}::integer, 'stayed', 'backfill', ${referenceOf('mailbox', 'made.id')},
          statement_timestamp()
        from made, held join mailbox on mailbox.id = held.mailbox order by made.record
      ),
      noted as (
        update subscription set backfilled = last, backfilled_since = case when last is not null then ${time}::timestamptz end
        from held, (select max(page.id) as last from page) as queued_page where subscription.id = held.id
      )
      select exists (select 1 from held) as held, (select count(*) from page) as records,
        coalesce((select max(page.id) from page), 0) as last,
        (select pg_notify('${WORK_CHANNEL}', '${MAILBOXES}' || held.mailbox) from held) as announced`,
    [...condition.values, id, from, since, limit, registry.id, event_type, record_type],
  )
  const [row] = rows
  return row?.held === true ? { records: row.records, last: row.last } : null
}
