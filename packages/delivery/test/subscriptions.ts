/** Stored subscriptions whose filters are given as predicates: their criteria are numbers of the predicates. */
import { randomUUID } from 'node:crypto'
import { readStoredCriteria } from '@rollcall/core/events/criteria'
import { keysOfFilter } from '@rollcall/core/events/filing'
import type { Predicate } from '@rollcall/core/model/predicate'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { withTransaction } from '@rollcall/database/transaction'
import type { JsonObject } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import type { ReadStoredFilter } from '../src/events/match.ts'

export interface StoredFilter {
  readonly event_type: string
  readonly record_type: string
  readonly predicate: Predicate | null
  readonly participant?: number
  /** The filter names one person. */
  readonly person?: boolean
  readonly cron?: string
  readonly start_at?: Date
  readonly end_at?: Date
}

export class StoredFilters {
  readonly #predicates: (Predicate | null)[] = []

  /** Reads stored criteria as a server does. */
  readonly compile: ReadStoredFilter = (_kind, criteria) => {
    const predicate = this.#predicates[Number(criteria)]
    if (predicate === undefined) throw new Error('the filter cannot be read')
    return { predicate }
  }

  /** Criteria that cannot be read. */
  static readonly UNREADABLE = 'unreadable'

  add(predicate: Predicate | null): string {
    this.#predicates.push(predicate)
    return String(this.#predicates.length - 1)
  }

  /** Stores live subscriptions, each filed under its keys, and returns their ids in order. */
  async subscribe(client: ClientBase, registryId: number, filters: readonly StoredFilter[]): Promise<readonly number[]> {
    const ids: number[] = []
    for (const filter of filters) {
      const id = await insertSubscription(client, registryId, filter, this.add(filter.predicate))
      ids.push(id)
      for (const { key, whole } of keysOfFilter(filter.predicate)) {
        await client.query(
          `insert into subscription_key (registry, event_type, record_type, key, subscription, whole)
           values ($1, $2, $3, $4, $5, $6)`,
          [registryId, filter.event_type, filter.record_type, key, id, whole],
        )
      }
    }
    return ids
  }
}

export async function insertSubscription(
  client: ClientBase,
  registryId: number,
  filter: Omit<StoredFilter, 'predicate'>,
  criteria: string,
): Promise<number> {
  const { participant = 1, person = false, cron = null, start_at = null, end_at = null } = filter
  await client.query(
    `insert into mailbox (participant, registry) values ($1, $2)
     on conflict (participant, registry, sender_uri) do nothing`,
    [participant, registryId],
  )
  const { rows } = await client.query<{ id: number }>(
    `insert into subscription (code, participant, registry, mailbox, event_type, record_type, fingerprint, criteria,
       person, cron, start_at, end_at, transaction_id, correlation_id, reference_id)
     select $1, $2, $3, mailbox.id, $4, $5, $6, $7, $8, $9, $10, $11, 't', gen_random_uuid(), 'r'
     from mailbox where participant = $2 and registry = $3 and sender_uri = '' returning id`,
    [
      `SUB-${randomUUID()}`,
      participant,
      registryId,
      filter.event_type,
      filter.record_type,
      Buffer.from(randomUUID()),
      criteria,
      person,
      cron,
      start_at,
      end_at,
    ],
  )
  return rows[0]?.id ?? 0
}

export type SubscriptionChanges = Partial<Omit<StoredFilter, 'event_type' | 'record_type' | 'predicate'>>

/** Stores a live subscription, as subscribe_criteria would make it, and returns its id. */
export async function subscribeLive(
  { pool }: Pick<Database, 'pool'>,
  registry: Registry,
  reg_event_type: string,
  filter?: JsonObject,
  more: SubscriptionChanges = {},
): Promise<number> {
  const criteria = JSON.stringify({
    reg_event_type,
    notify_record_type: registry.kind.record_types[0].name,
    ...(filter && { filter_type: 'expression', filter }),
  })
  const { eventType, recordType, predicate } = readStoredCriteria(registry.kind, criteria)
  return withTransaction(pool, async (client) => {
    const filed = { event_type: eventType.name, record_type: recordType.name, ...more }
    const subscription = await insertSubscription(client, registry.id, filed, criteria)
    for (const { key, whole } of keysOfFilter(predicate)) {
      await client.query('insert into subscription_key values ($1, $2, $3, $4, $5, $6)', [
        ...[registry.id, eventType.name, recordType.name, key, subscription, whole],
      ])
    }
    return subscription
  })
}
