/** Replies on their way that must not be sent any more: the grant of today counts, not that of the day of the answer. */
import { CanonicalText, type JsonValue, OPERATIONS, operation } from '@rollcall/protocol'
import type { Grants } from '../directory/grants.ts'
import type { ClaimedDelivery } from '../model/delivery.ts'
import type { Participant } from '../model/participant.ts'
import type { Registry } from '../model/registry.ts'
import { isStillShown } from '../policy/disclosure.ts'
import { may } from '../policy/permission.ts'
import type { Database } from '../store/db/database.ts'
import { isOlderThanGrant } from '../store/deliveries/deliveries.ts'

/** An answer about another exchange: what was granted for that one is not known here. */
const ABOUT_OTHERS = operation('txn-status').name

/**
 * Asked before an attempt. A reply whose records would be other ones under a newer grant is not made anew: a message_id
 * never has two contents, and whoever may have them still asks again.
 */
export async function isStillPermitted(
  { db: { pool }, grants }: { readonly db: Pick<Database, 'pool'>; readonly grants: Grants },
  delivery: Pick<ClaimedDelivery, 'id' | 'callback' | 'operation'>,
  { participant, registry }: { readonly participant: Participant; readonly registry: Registry },
  message: object | CanonicalText,
): Promise<boolean> {
  const grant = await grants.of(participant, registry)
  const answered = answeredBy(delivery)
  const granted = answered.filter((name) => may(grant, { operation: name }).allowed)
  if (grant === null || granted.length === 0) return false
  if (!(await isOlderThanGrant(pool, delivery.id, grant.id))) return true
  if (granted.every((name) => name === ABOUT_OTHERS)) return false
  const text = message instanceof CanonicalText ? message.text : JSON.stringify(message)
  return isStillShown(grant, JSON.parse(text) as JsonValue)
}

/** The operation that a delivery answers; those that are answered by its callback, where it is not known any more. */
const answeredBy = ({
  callback,
  operation: name,
}: Pick<ClaimedDelivery, 'callback' | 'operation'>): string[] =>
  name == null ? OPERATIONS.filter((row) => row.callback?.name === callback).map((row) => row.name) : [name]
