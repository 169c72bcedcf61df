/** THE list of acts that may wait for a second operator: a proposal names one of them. */
import type { ActDescription, BaseActDeps } from '../act.ts'
import { changeCallback } from '../callbacks/callbacks.ts'
import { showInboxMessage } from '../callbacks/inbox.ts'
import { applyConfiguration } from '../configuration/apply.ts'
import { addConsentAuthority } from '../consents/authorities.ts'
import { reinstateConsent } from '../consents/consents.ts'
import { replayDeliveries } from '../deliveries/changes.ts'
import { changeDeliveries, showDelivery } from '../deliveries/deliveries.ts'
import type { HasEventRecording } from '../deps.ts'
import { backfillSubscription } from '../events/subscription-mailbox.ts'
import { setGrant } from '../grants/grant-changes.ts'
import { openBodies, openDeliveryBody } from '../messages/bodies.ts'
import { addOperator } from '../operators/operators.ts'
import { addParticipantKeys } from '../participants/keys.ts'
import { addParticipant, enableParticipant, rotateParticipantSecret } from '../participants/participants.ts'
import { allowParticipantHost, changeParticipantPolicy } from '../participants/policy.ts'
import { promoteParticipant } from '../participants/promote.ts'
import { erasePerson } from '../persons/erase.ts'
import { removeHold } from '../persons/holds.ts'
import { unprotectPerson } from '../persons/protected-persons.ts'
import type { RetentionDeps } from '../persons/retention.ts'
import { addRegistry, changeRegistry } from '../registries/registries.ts'

/** The dependencies of every act of the list. */
export type ActDeps = RetentionDeps & HasEventRecording & BaseActDeps

/** An act that may wait for a second operator: its function, and in `act` the facts about it. */
export interface ApprovableAct {
  (deps: ActDeps, input: never): Promise<unknown>
  readonly act: ActDescription<ActDeps>
}

export const APPROVABLE_ACTS: readonly ApprovableAct[] = [
  ...[setGrant, addParticipantKeys, changeParticipantPolicy, allowParticipantHost, changeCallback, enableParticipant],
  ...[addRegistry, changeRegistry, reinstateConsent, addConsentAuthority, addParticipant, rotateParticipantSecret],
  ...[promoteParticipant, changeDeliveries, replayDeliveries, backfillSubscription, openBodies, openDeliveryBody],
  ...[showDelivery, showInboxMessage, unprotectPerson, removeHold, erasePerson, applyConfiguration, addOperator],
]

/** Finds an act by its name; null when there is none. */
export const findAct = (name: string): ApprovableAct | null => APPROVABLE_ACTS.find(({ act }) => act.name === name) ?? null
