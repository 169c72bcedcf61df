/** The subscriptions of a participant, checked again when its grant changes. */
import { ItemRejection } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { compileCriteria } from '../events/criteria.ts'
import type { Grant } from '../model/grant.ts'
import type { Participant } from '../model/participant.ts'
import type { Registry } from '../model/registry.ts'
import { readGrant } from '../policy/grant.ts'
import { refusedSubscription } from '../policy/subscription.ts'
import type { Database } from '../store/db/database.ts'
import { withTransaction } from '../store/db/transaction.ts'
import { findGrant } from '../store/directory/grants.ts'
import { liveSubscriptions } from '../store/events/find-subscriptions.ts'
import { lockEvents } from '../store/events/lock.ts'
import { suspend } from '../store/events/subscription-states.ts'

/**
 * Suspends what the grant in force does not allow any more: the event, the record type, no filter, or a filter that asks
 * in another form or about something else.
 * @returns how many
 */
export async function suspendUngranted(
  db: Pick<Database, 'pool'>,
  participant: Pick<Participant, 'id'>,
  registry: Registry,
): Promise<number> {
  const found = await findGrant(db, participant.id, registry.id)
  const grant = found && { id: found.id, ...readGrant(registry.kind, found.terms) }
  const work = async (client: ClientBase): Promise<number> => {
    await lockEvents(client, registry.id, 'subscribe')
    const live = await liveSubscriptions(client, participant.id, registry.id)
    const ungranted = live.filter(({ criteria }) => !isGranted(grant, criteria)).map(({ id }) => id)
    await suspend(client, ungranted, 'not_permitted')
    return ungranted.length
  }
  return withTransaction(db.pool, work)
}

function isGranted(grant: Grant | null, criteria: string): boolean {
  if (grant === null) return false
  try {
    return refusedSubscription(grant, compileCriteria(grant.kind, criteria)) === null
  } catch (error) {
    // The filter asks about something that is not granted.
    if (error instanceof ItemRejection) return false
    throw error
  }
}
