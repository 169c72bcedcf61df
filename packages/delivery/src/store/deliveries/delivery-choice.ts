/** Chooses the deliveries that are listed or changed by hand. */
import { isTextStorable } from '@rollcall/database/text'
import { participantIdSql } from '@rollcall/participants/store/participant-names'
import { registryIdSql } from '@rollcall/records/registries/registry-names'

/** The states of a delivery. `refused`: by the peer; `dead`: given up; `dropped`: not to be sent; `held`: without an address. */
export const DELIVERY_STATES = ['pending', 'delivered', 'refused', 'dead', 'dropped', 'held'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** The conditions that chosen deliveries must fulfil. An absent condition allows every delivery. */
export interface DeliveryFilter {
  readonly ids?: readonly string[]
  /** The sender_id of the participant. */
  readonly participant?: string
  /** The namespace of the registry. */
  readonly registry?: string
  /** The origin of the address to which the delivery goes. */
  readonly origin?: string
  readonly state?: DeliveryState
  /** The states that a chosen delivery may have. */
  readonly states?: readonly DeliveryState[]
  /** Only deliveries that were made at this time or later. */
  readonly since?: Date
  /** Only deliveries that were made before this time. */
  readonly until?: Date
  /** The id of a delivery: only deliveries that come after it in the list, which has the newest first. */
  readonly before?: string
}

/** Matches a UUID as text. */
export const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The text of a condition. A text that the database cannot store becomes '', which no sender_id or namespace equals. */
const storableNameOrEmpty = (name: string): string => (isTextStorable(name) ? name : '')

/** Makes the SQL of the conditions that a filter has, and of no others, so that PostgreSQL finds the index for them. */
export function makeDeliveryFilterSql(choice: DeliveryFilter): { readonly text: string; readonly values: unknown[] } {
  const { ids, participant, registry, origin, state, states, since, until, before } = choice
  const values: unknown[] = []
  const value = (given: unknown): string => `$${values.push(given)}`
  const conditions: string[] = []
  // Ids of deliveries are UUIDs, so another text matches nothing.
  if (ids !== undefined) conditions.push(`delivery.id = any(${value(ids.filter((id) => UUID_PATTERN.test(id)))}::uuid[])`)
  if (participant !== undefined) {
    const name = value(storableNameOrEmpty(participant))
    conditions.push(`delivery.participant = ${participantIdSql(name)}`)
  }
  if (registry !== undefined) {
    const namespace = value(storableNameOrEmpty(registry))
    conditions.push(`delivery.registry = ${registryIdSql(namespace)}`)
  }
  // The origin '' stands for deliveries without an address, so an origin that the database cannot store must not become ''.
  if (origin !== undefined) conditions.push(isTextStorable(origin) ? `delivery.origin = ${value(origin)}` : 'false')
  // The state is written into the statement, because indexes exist for single states.
  if (state !== undefined) conditions.push(`delivery.state = '${state}'`)
  if (states !== undefined) conditions.push(`delivery.state = any(${value(states)}::text[])`)
  if (since !== undefined) conditions.push(`delivery.created_at >= ${value(since)}`)
  if (until !== undefined) conditions.push(`delivery.created_at < ${value(until)}`)
  if (before !== undefined) {
    const id = value(before)
    // The time of `before` is read in SQL, because a JavaScript Date has no microseconds.
    const at = `(select last.created_at from delivery as last where last.id = ${id}::uuid)`
    conditions.push(`delivery.created_at <= ${at}`)
    conditions.push(`(delivery.created_at < ${at} or delivery.id > ${id}::uuid)`)
  }
  return { text: conditions.length === 0 ? 'true' : conditions.join(' and '), values }
}
