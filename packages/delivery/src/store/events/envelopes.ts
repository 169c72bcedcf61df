/** Envelopes of mailboxes: each is committed with its delivery and its notifications, or nothing of it is. */

import type { Claim, NewDelivery } from '@rollcall/core/model/delivery'
import { groupCommit, perPool } from '@rollcall/database/group-commit'
import { countUses } from '@rollcall/participants/store/grant-use'
import type pg from 'pg'
import { insertDeliveriesFrom } from '../deliveries/deliveries.ts'
import { IS_TAKEN_BACK } from './waiting.ts'

/** The next envelope of a mailbox. */
export interface NewEnvelope {
  readonly mailbox: number
  /** Of the mailbox's last envelope: its own is one more. */
  readonly after: number
  /** Under which the mailbox is claimed; it ends with the envelope, whose delivery holds the mailbox from then on. */
  readonly claim: string
  readonly delivery: NewDelivery
  /** Given when the delivery is attempted right after; else the node that claims it attempts it. */
  readonly deliveryClaim: Claim | null
  readonly notifications: readonly SentNotification[]
  /** Records that count towards the daily quota of the grant, also beyond it; 0 where it has none. */
  readonly counted: number
}

export interface SentNotification {
  readonly id: number
  readonly subscription: number
  /** Of the item that tells it. */
  readonly reference_id: string
}

/** Envelopes in one statement: their bodies are in memory once more. */
const TOGETHER = 64

/**
 * Commits an envelope; those of several mailboxes share a statement.
 * @returns false when it must not be sent: another node made the next one, the mailbox was closed, or a subscription was
 * taken back meanwhile or has another mailbox
 */
export const commitEnvelope = (pool: pg.Pool, envelope: NewEnvelope): Promise<boolean> => waiting(pool).submit(envelope)

const waiting = perPool((pool) =>
  groupCommit<NewEnvelope, boolean>((envelopes) => write(pool, envelopes), { waiting: Infinity, together: TOGETHER }),
)

async function write(pool: pg.Pool, envelopes: readonly NewEnvelope[]): Promise<readonly boolean[]> {
  const notifications = envelopes.flatMap((envelope) =>
    envelope.notifications.map((one) => ({ ...one, mailbox: envelope.mailbox })),
  )
  const deliveries = envelopes.map(({ delivery, deliveryClaim }) => ({ ...delivery, claim: deliveryClaim }))
  const { rows } = await pool.query<{ mailbox: number }>({
    name: 'commit envelopes',
    text: COMMIT_ENVELOPES,
    values: [
      ...columns(envelopes, ['mailbox', 'after', 'claim']),
      ...columns(notifications, ['mailbox', 'id', 'subscription', 'reference_id']),
      ...columns(deliveries, ['id', 'callback', 'message_id', 'target', 'encrypted', 'body']),
      deliveries.map(({ claim }) => claim?.id ?? null),
      deliveries.map(({ claim }) => claim?.seconds ?? null),
      deliveries.map(({ made }) => made?.grant ?? null),
      deliveries.map(({ made }) => made?.protection ?? null),
      envelopes.map((envelope) => `{${envelope.notifications.map(({ id }) => id).join(',')}}`),
      envelopes.map(({ counted }) => counted),
    ],
  })
  const committed = new Set(rows.map(({ mailbox }) => mailbox))
  return envelopes.map(({ mailbox }) => committed.has(mailbox))
}

const columns = <Row>(rows: readonly Row[], names: readonly (keyof Row)[]): unknown[][] =>
  names.map((name) => rows.map((row) => row[name]))

// Each mailbox is looked up by its id: a join would read all of them. Who has made the next envelope has changed the sequence.
const COMMIT_ENVELOPES = `with given as (
    select * from unnest($1::integer[], $2::bigint[], $3::uuid[]) as given (mailbox, after, claim)
  ),
  told as (
    select * from unnest($4::integer[], $5::bigint[], $6::integer[], $7::text[])
      as told (mailbox, notification, subscription, reference_id)
  ),
  taken_back as (
    select distinct told.mailbox from told join subscription on subscription.id = told.subscription
      join notification on notification.id = told.notification
    where notification.mailbox <> told.mailbox or ${IS_TAKEN_BACK}
  ),
  held as (
    select free.id from given cross join lateral (
      select id from mailbox
      where id = given.mailbox and sequence = given.after and state = 'open'
        and (mailbox.claim is null or mailbox.claim = given.claim or claimed_until <= now())
        and not exists (select 1 from delivery where delivery.mailbox = given.mailbox and state = 'pending')
      for update skip locked
    ) as free
    where given.mailbox not in (select mailbox from taken_back)
  ),
  stepped as (
    update mailbox set sequence = sequence + 1, claim = null, claimed_until = null, resting_since = null
    from held where mailbox.id = held.id
    returning mailbox.id as mailbox, participant, registry, null::uuid as correlation_id, sequence
  ),
  made as (${insertDeliveriesFrom(
    `stepped join unnest($1::integer[], $8::uuid[], $9::text[], $10::text[], $11::text[], $12::boolean[], $13::bytea[],
      $14::uuid[], $15::float8[], $16::integer[], $17::bigint[], $18::text[])
      as new (mailbox, id, callback, message_id, target, encrypted, body, claim, seconds, granted, protection, notifications)
      using (mailbox)`,
    '1',
    'stepped.mailbox, sequence, new.notifications::bigint[]',
  )}),
  sent as (
    update notification set state = 'sent', delivery = new.delivery, reference_id = told.reference_id
    from told join stepped using (mailbox)
      join unnest($1::integer[], $8::uuid[]) as new (mailbox, delivery) using (mailbox)
    where notification.id = told.notification and notification.mailbox = told.mailbox and notification.state = 'waiting'
  ),
  used as (${countUses(
    `select participant, registry, 'records' as counted, sum(new.counted) as used
    from stepped join unnest($1::integer[], $19::integer[]) as new (mailbox, counted) using (mailbox)
    where new.counted > 0 group by participant, registry order by participant, registry`,
  )})
  select mailbox from stepped`
