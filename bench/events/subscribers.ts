/** Subscribers, events and notifications as rows: what a published event has committed. */
import { randomUUID } from 'node:crypto'
import { setGrant } from '@rollcall/admin/grants/grant-changes'
import { showGrantTemplate } from '@rollcall/admin/grants/grants'
import { keysOfFilter } from '@rollcall/core/events/filing'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { withTransaction } from '@rollcall/database/transaction'
import { setCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { addParticipant } from '@rollcall/participants/store/participants'
import pg from 'pg'
import { acting } from '../../packages/admin/test/acting.ts'

/** Makes so many participants, each with so many addresses at the receiver, and so many subscriptions at each address. */
export async function makeSubscribers(
  db: Database,
  registry: Registry,
  receiver: string,
  { participants, addresses, subscriptions = 1 }: { participants: number; addresses: number; subscriptions?: number },
): Promise<void> {
  await forgetEvents(db)
  const run = randomUUID()
  const ids: number[] = []
  for (let at = 0; at < participants; at += 1) {
    const sender_id = `subscriber-${at}-${run}.example`
    const participant = await addParticipant(db, {
      sender_id,
      name: sender_id,
      outgoing: [{ host: '127.0.0.1', ports: 'any', plainHttp: true, loopback: true }],
    })
    const { namespace } = registry
    const terms = await showGrantTemplate({ db }, { namespace, template: 'everything' })
    await setGrant(acting({ db }), { sender_id, namespace, terms })
    await setCallbackSettings(db, participant.id, { allowed: [receiver] })
    ids.push(participant.id)
  }
  const [every] = keysOfFilter(null)
  // The order is random, so that mailboxes of one participant are not neighbours in the table.
  await db.pool.query(
    `with made as (
        insert into mailbox (participant, registry, sender_uri)
        select participant, $2, $3::text || '/' || participant || '/' || nth || '/on-subscribe'
        from unnest($1::integer[]) as participant, generate_series(1, $4) as nth order by nth, participant
        returning id, participant
      ), subscribed as (
      insert into subscription (code, participant, registry, mailbox, event_type, record_type, fingerprint, criteria,
        transaction_id, correlation_id, reference_id)
      select 'SUB-' || gen_random_uuid(), participant, $2, made.id, 'LiveBirth', 'Person', uuid_send(gen_random_uuid()),
        '{"reg_event_type":"LiveBirth"}', 'tx', gen_random_uuid(), 'r'
      from made, generate_series(1, $5) as subscription order by made.id, subscription returning id
      )
      insert into subscription_key (registry, event_type, record_type, key, subscription, whole)
      select $2, 'LiveBirth', 'Person', $6, id, $7 from subscribed`,
    [ids, registry.id, receiver, addresses, subscriptions, every?.key, every?.whole],
  )
  await db.pool.query('analyze mailbox, subscription')
}

/**
 * Empties the tables of events. A worker may read them in another order. This side gives up its locks and tries again long before
 * PostgreSQL looks for a deadlock, which it does after a second, so the worker never becomes the victim.
 */
export async function forgetEvents({ pool }: Pick<Database, 'pool'>): Promise<void> {
  try {
    await withTransaction(pool, async (client) => {
      await client.query(`set local lock_timeout = '50ms'`)
      await client.query('truncate notification, subscription_key, subscription, event, mailbox, delivery cascade')
    })
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) throw error
    await forgetEvents({ pool })
  }
}

const LOCK_NOT_AVAILABLE = '55P03'

/** A record of the usual size. */
export const newborn = (uin: string): string =>
  JSON.stringify({
    '@type': 'CRVS_Person',
    address: { address_line1: '12 Long Street', country_code: 'XX', locality: 'Somewhere', postal_code: '12345' },
    birth_date: '2026-02-03T00:00:00Z',
    identifier: [{ '@type': 'Identifier', identifier_type: 'UIN', identifier_value: uin }],
    name: { given_name: 'Ada', second_name: 'Maria', surname: 'Okoro' },
    phone_number: ['+1 555 0100'],
    sex: 'female',
  })

/** Writes so many events. */
export async function makeEvents(db: Database, registry: Registry, count: number): Promise<readonly number[]> {
  const { rows } = await db.pool.query<{ id: number }>(
    `insert into event (registry, event_type, record_type, record, record_version, occurred_at, document, identifiers)
      select $1, 'LiveBirth', 'Person', nth, (extract(epoch from clock_timestamp()) * 1000000)::bigint, now(), replace($2, 'THE-UIN', 'UIN-' || nth), '{}'
      from generate_series(1, $3) as nth returning id`,
    [registry.id, newborn('THE-UIN'), count],
  )
  return rows.map(({ id }) => id)
}

/** The last thing that the transaction of a change does. */
export const ANNOUNCE = `select pg_notify('rollcall_work', 'm')`
