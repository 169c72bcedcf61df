/** Decides whether an operator may learn that a participant exists. */
import { hasRole, type Operator } from '@rollcall/core/model/operator'
import type { Database } from '@rollcall/database/database'
import { hasHadGrant } from '@rollcall/participants/store/grants'
import { AdminRefusal } from '../admin-function.ts'

/** True when an operator may list all participants. */
export const canListParticipants = (operator: Pick<Operator, 'registries' | 'roles' | 'authority'>): boolean =>
  hasRole(operator, 'read') && operator.registries === null && operator.authority === null

/**
 * Refuses a participant who never had a grant in the registries of the operator, as if it did not exist. Operators who
 * may grant, or are bound to no registries, know all participants.
 * @param sender_id the given value, if any
 * @throws AdminRefusal
 */
export async function checkOperatorKnowsParticipant(
  db: Database,
  operator: Pick<Operator, 'registries' | 'roles'>,
  sender_id: unknown,
): Promise<void> {
  const { registries } = operator
  if (typeof sender_id !== 'string' || registries === null || hasRole(operator, 'own')) return
  if (await hasHadGrant(db, sender_id, registries)) return
  throw new AdminRefusal(`no participant has sender_id ${sender_id}`, { reason: 'not_found' })
}
