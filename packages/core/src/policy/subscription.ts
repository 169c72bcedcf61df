/** Decides whether a participant may subscribe with its criteria. */
import type { EventType, RecordType } from '@rollcall/protocol'
import type { Grant, QueryForm } from '../model/grant.ts'
import type { Predicate } from '../model/predicate.ts'
import { permissionFor } from './permission.ts'
import { findQueryRefusal, isAcceptedAsFilter } from './query-form.ts'

/** The part of `SubscribeCriteria` that is checked. */
interface WantedSubscription {
  readonly eventType: EventType
  readonly recordType: RecordType
  /** The condition of the filter; null when there is no filter. */
  readonly predicate: Predicate | null
  readonly form: QueryForm | null
}

/**
 * The text of the refusal: the path of the refused member, then the rule that refuses it; null when the subscription is allowed.
 */
export function findSubscriptionRefusal(
  grant: Grant,
  { eventType, recordType, predicate, form }: WantedSubscription,
): string | null {
  const wanted = { operation: 'subscribe', event_type: eventType.name, record_type: recordType.name }
  const permission = permissionFor(grant, wanted)
  if (!permission.allowed) return `subscribe_criteria: ${permission.reason}`
  const query = predicate && form && findQueryRefusal(grant, { recordType, form, predicate })
  if (query !== null) return `subscribe_criteria.filter: ${query}`
  const filtered = permissionFor(grant, { ...wanted, unfiltered: predicate === null || !isAcceptedAsFilter(predicate) })
  return filtered.allowed ? null : `subscribe_criteria.filter: ${filtered.reason}`
}
