/** Suspends subscriptions that a changed grant does not allow any more, and checks one before it is resumed. */

import { isSubscriptionGranted } from '@rollcall/core/events/granted'
import type { ConsentSummary } from '@rollcall/core/model/consent'
import type { Grant } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { readStoredGrant } from '@rollcall/core/policy/grant'
import type { Database } from '@rollcall/database/database'
import { withTransaction } from '@rollcall/database/transaction'
import { listSubscriptionsInStateLive } from '@rollcall/delivery/store/events/find-subscriptions'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { suspendSubscriptions } from '@rollcall/delivery/store/events/subscription-states'
import { findGrant } from '@rollcall/participants/store/grants'
import type { ClientBase } from 'pg'

/** Suspends the subscriptions that the grant in force does not allow any more. @returns how many */
export async function suspendUngrantedSubscriptions(
  db: Pick<Database, 'pool'>,
  participant: Pick<Participant, 'id'>,
  registry: Registry,
): Promise<number> {
  const grant = await findGrantNow(db, participant.id, registry)
  const work = async (client: ClientBase): Promise<number> => {
    await lockRegistryFor(client, registry.id, 'subscribe')
    const live = await listSubscriptionsInStateLive(client, participant.id, registry.id)
    const ungranted = live.filter(({ criteria, consent }) => !isSubscriptionGranted(grant, criteria, consent)).map(({ id }) => id)
    await suspendSubscriptions(client, ungranted, 'not_permitted')
    return ungranted.length
  }
  return withTransaction(db.pool, work)
}

/** True when the grant in force allows the subscription. */
export async function isSubscriptionGrantedNow(
  db: Pick<Database, 'pool'>,
  registry: Registry,
  {
    participant,
    criteria,
    consent,
  }: { readonly participant: number; readonly criteria: string; readonly consent: ConsentSummary | null },
): Promise<boolean> {
  return isSubscriptionGranted(await findGrantNow(db, participant, registry), criteria, consent)
}

async function findGrantNow(db: Pick<Database, 'pool'>, participant: number, registry: Registry): Promise<Grant | null> {
  const found = await findGrant(db, participant, registry.id)
  return found && readStoredGrant(registry.kind, found)
}
