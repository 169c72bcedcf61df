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
  /** Its namespace. */
  readonly registry?: string
  /** Origin of the address. */
  readonly origin?: string
  readonly state?: DeliveryState
  /** In one of these. */
  readonly states?: readonly DeliveryState[]
  /** Made at this time or later. */
  readonly since?: Date
  /** Made before this time. */
  readonly until?: Date
  /** Id of a delivery: only those behind it in the list. */
  readonly before?: string
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A text that cannot be stored is nobody's name. */
const storable = (name: string): string => (isStorable(name) ? name : '')

/** Only what is given stands in the statement, so that it is found by the index for it. */
export function chosen(choice: DeliveryChoice): { readonly text: string; readonly values: unknown[] } {
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
  // One of few names, and not a value: the indexes of single states are found by it.
  if (state !== undefined) conditions.push(`delivery.state = '${state}'`)
  if (states !== undefined) conditions.push(`delivery.state = any(${value(states)}::text[])`)
  if (since !== undefined) conditions.push(`delivery.created_at >= ${value(since)}`)
  if (until !== undefined) conditions.push(`delivery.created_at < ${value(until)}`)
  if (before !== undefined) {
    const id = value(before)
    // Read here: a time that went through a Date has lost its microseconds.
    const at = `(select last.created_at from delivery as last where last.id = ${id}::uuid)`
    conditions.push(`delivery.created_at <= ${at}`)
    conditions.push(`(delivery.created_at < ${at} or delivery.id > ${id}::uuid)`)
  }
  return { text: conditions.length === 0 ? 'true' : conditions.join(' and '), values }
}
