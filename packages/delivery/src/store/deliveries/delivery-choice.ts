/** Which deliveries are listed or changed by hand. */
import { isStorable } from '@rollcall/database/text'
import { participantNamed } from '@rollcall/participants/store/participant-names'
import { registryNamed } from '@rollcall/records/registries/registry-names'

export const DELIVERY_STATES = ['pending', 'delivered', 'refused', 'dead', 'dropped', 'held'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** Conditions of a choice; an absent one allows all. */
export interface DeliveryChoice {
  readonly ids?: readonly string[]
  /** `sender_id` */
  readonly participant?: string
  /** The namespace of the registry. */
  readonly registry?: string
  /** Origin of the address. */
  readonly origin?: string
  readonly state?: DeliveryState
  /** States of which a delivery has one. */
  readonly states?: readonly DeliveryState[]
  /** Made at this time or later. */
  readonly since?: Date
  /** Made before this time. */
  readonly until?: Date
  /** Id of a delivery: only those that follow it in the list. */
  readonly before?: string
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A text that the database cannot store matches no name. */
const storable = (name: string): string => (isStorable(name) ? name : '')

/** SQL of the conditions that are given, and no others, so that the planner finds the index for them. */
export function choiceConditions(choice: DeliveryChoice): { readonly text: string; readonly values: unknown[] } {
  const { ids, participant, registry, origin, state, states, since, until, before } = choice
  const values: unknown[] = []
  const value = (given: unknown): string => `$${values.push(given)}`
  const conditions: string[] = []
  // Only UUIDs can be ids of deliveries.
  if (ids !== undefined) conditions.push(`delivery.id = any(${value(ids.filter((id) => UUID.test(id)))}::uuid[])`)
  if (participant !== undefined) {
    const name = value(storable(participant))
    conditions.push(`delivery.participant = ${participantNamed(name)}`)
  }
  if (registry !== undefined) {
    const namespace = value(storable(registry))
    conditions.push(`delivery.registry = ${registryNamed(namespace)}`)
  }
  if (origin !== undefined) conditions.push(`delivery.origin = ${value(storable(origin))}`)
  // The state is written into the statement, because there are indexes for single states.
  if (state !== undefined) conditions.push(`delivery.state = '${state}'`)
  if (states !== undefined) conditions.push(`delivery.state = any(${value(states)}::text[])`)
  if (since !== undefined) conditions.push(`delivery.created_at >= ${value(since)}`)
  if (until !== undefined) conditions.push(`delivery.created_at < ${value(until)}`)
  if (before !== undefined) {
    const id = value(before)
    // The time is read in SQL: a JavaScript Date has no microseconds.
    const at = `(select last.created_at from delivery as last where last.id = ${id}::uuid)`
    conditions.push(`delivery.created_at <= ${at}`)
    conditions.push(`(delivery.created_at < ${at} or delivery.id > ${id}::uuid)`)
  }
  return { text: conditions.length === 0 ? 'true' : conditions.join(' and '), values }
}
