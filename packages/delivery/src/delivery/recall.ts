/** Takes envelopes of notifications back when the grant, a subscription or the protected persons have changed. */

import type { ClaimedDelivery, DeliveryClaim } from '@rollcall/core/model/delivery'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { permissionFor } from '@rollcall/core/policy/permission'
import type { Database } from '@rollcall/database/database'
import type { Grants } from '@rollcall/participants/directory/grants'
import { readGrantAndProtectionChanges } from '../store/deliveries/deliveries.ts'
import { findSubscriptionsOfEnvelope, recallEnvelope } from '../store/events/recall-envelope.ts'

interface EnvelopeParties {
  readonly participant: Participant
  readonly registry: Registry
}

/**
 * Takes an envelope back before an attempt, if one of its subscriptions must not be notified, or if grant or protected persons
 * have changed since the envelope was made. The notifications in the envelope then wait in the mailbox again; those that may be
 * sent get a new envelope.
 * @returns whether the envelope was taken back
 */
export async function recallUnwantedEnvelope(
  { db: { pool }, grants }: { readonly db: Pick<Database, 'pool'>; readonly grants: Grants },
  { id: delivery, number, mailbox }: Pick<ClaimedDelivery, 'id' | 'number' | 'mailbox'>,
  { participant, registry }: EnvelopeParties,
  { id: claim }: DeliveryClaim,
): Promise<boolean> {
  if (mailbox == null) return false
  const grant = await grants.of(participant, registry)
  const mayBeSent = (await findSubscriptionsOfEnvelope(pool, delivery)).every(
    ({ unwanted, ...about }) => !unwanted && permissionFor(grant, { operation: 'subscribe', ...about }).allowed,
  )
  const changed = grant === null ? null : await readGrantAndProtectionChanges(pool, delivery, grant.id)
  const isCurrent = mayBeSent && changed?.grant !== true && changed?.protection !== true
  return !isCurrent && recallEnvelope(pool, { delivery, mailbox, claim, attempted: number > 1 })
}
