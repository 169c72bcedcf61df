/** Takes waiting notifications back when a person becomes protected. */

import type { RecordId } from '@rollcall/core/model/records'
import { toStoredRecordId } from '@rollcall/database/record-ids'
import type { ClientBase } from 'pg'
import { readPersonHidingRules } from './subscriber-hiding.ts'
import { dropNotifications } from './waiting.ts'

interface RecordsOfProtectedPerson {
  readonly registry: number
  readonly record_type: string
  /** The id of the protected person's record, and the ids of records that were merged into it. */
  readonly records: readonly RecordId[]
}

/**
 * Drops the waiting notifications about records of a protected person, for all subscribers whose grants do not show the person's
 * category. Envelopes in delivery are composed again before their next attempt.
 * @returns how many were dropped
 */
export async function dropNotificationsAboutPerson(
  client: ClientBase,
  { registry, record_type, records }: RecordsOfProtectedPerson,
  category: string,
): Promise<number> {
  const ids = records.map(toStoredRecordId)
  const { rows } = await client.query<{ id: number; subscription: number }>(
    `select notification.id, notification.subscription from notification join event on event.id = notification.event
     where event.registry = $1 and event.record_type = $2 and notification.state = 'waiting'
       and (event.record, coalesce(event.record_key, '')) in (select * from unnest($3::bigint[], $4::text[]))
     order by notification.id for update of notification`,
    [registry, record_type, ids.map(({ record }) => record), ids.map(({ record_key }) => record_key ?? '')],
  )
  const hides = await readPersonHidingRules(
    client,
    rows.map(({ subscription }) => subscription),
  )
  const withdrawn = rows.filter(({ subscription }) => !hides(subscription).shownCategories.includes(category)).map(({ id }) => id)
  await dropNotifications(client, withdrawn)
  return withdrawn.length
}
