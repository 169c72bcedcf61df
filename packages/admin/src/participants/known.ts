/** Whether an operator may learn of a participant. */
import { hasRole, type Operator } from '@rollcall/core/model/operator'
import type { Database } from '@rollcall/database/database'
import { hadGrantIn } from '@rollcall/participants/store/grants'
import { AdminRefusal } from '../use-case.ts'

/** Whether an operator may list all participants. */
export const mayList = (operator: Pick<Operator, 'registries' | 'roles' | 'authority'>): boolean =>
  hasRole(operator, 'read') && operator.registries === null && operator.authority === null

/**
 * An operator who is bound to registries does not learn which participants there are elsewhere: a participant to whom
 * nothing was ever granted there is unknown. An operator who may grant must know all of them.
 * @param sender_id as it was given, if it was
 * @throws AdminRefusal
 */
export async function checkKnownTo(
  db: Database,
  operator: Pick<Operator, 'registries' | 'roles'>,
  sender_id: unknown,
): Promise<void> {
  const { registries } = operator
  if (typeof sender_id !== 'string' || registries === null || hasRole(operator, 'own')) return
  if (await hadGrantIn(db, sender_id, registries)) return
  throw new AdminRefusal(`no participant has sender_id ${sender_id}`, { reason: 'not_found' })
}
