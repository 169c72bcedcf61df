/** Refuses to remove from a registry what a grant names. */

import type { Database } from '@rollcall/database/database'
import { listGrants } from '@rollcall/participants/store/grants'
import { listParticipants } from '@rollcall/participants/store/participants'
import type { Kind } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { AdminRefusal } from '../admin-function.ts'
import { grantProblemIn } from './check-terms.ts'
import { isExpiredGrant } from './terms.ts'

/**
 * Checks that no grant needs what is removed.
 * @throws AdminRefusal an unexpired grant could not be used after the removal
 * @param without the kind of the registry as it will be after the removal
 */
export async function checkNoGrantNeedsRemoved(db: Database, namespace: string, without: Kind, removed: string): Promise<void> {
  const registry = await requireRegistry(db, namespace)
  const rows = (await listGrants(db, { registry: registry.id })).filter((row) => !isExpiredGrant(row))
  const broken = rows.find(
    ({ terms }) => grantProblemIn(registry.kind, terms) === null && grantProblemIn(without, terms) !== null,
  )
  if (broken === undefined) return
  const owner = (await listParticipants(db)).find(({ id }) => id === broken.participant)
  throw new AdminRefusal(`name: the grant of ${owner?.sender_id} in ${namespace} names ${removed}; change the grant first`, {
    reason: 'conflict',
  })
}
