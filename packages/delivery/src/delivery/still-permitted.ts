/**
 * Finds out before an attempt whether a reply or a notification may still be sent: the present grant applies, not that of
 * the time when it was made.
 */

import { findConsentUses } from '@rollcall/consents/store/consent-uses'
import type { ClaimedDelivery, NewDelivery } from '@rollcall/core/model/delivery'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { isConsentGranted, isLimitedToOnePerson } from '@rollcall/core/policy/basis'
import { areRecordsStillShown, showsNoProtectedPerson } from '@rollcall/core/policy/disclosure'
import { permissionFor } from '@rollcall/core/policy/permission'
import type { Database } from '@rollcall/database/database'
import type { Grants } from '@rollcall/participants/directory/grants'
import { CanonicalText, isJsonObject, type JsonValue, OPERATIONS, operation } from '@rollcall/protocol'
import { readGrantAndProtectionChanges } from '../store/deliveries/deliveries.ts'

/** The operation whose answers repeat the results of earlier exchanges. The grants of those exchanges are not known here. */
const TXN_STATUS_OPERATION = operation('txn-status').name

/**
 * True when a reply may be sent. If the grant has changed, a reply is sent only when the new grant certainly shows the records of
 * the reply unchanged. A refused reply is not replaced, because a message_id never has two contents; the receiver may ask again.
 * A reply is not sent when a consent has ended under which one of its items was answered.
 */
export async function isStillPermitted(
  { db: { pool }, grants }: { readonly db: Pick<Database, 'pool'>; readonly grants: Grants },
  delivery: Pick<ClaimedDelivery, 'id' | 'callback' | 'operation' | 'correlation_id'>,
  { participant, registry }: { readonly participant: Participant; readonly registry: Registry },
  message: object | CanonicalText,
): Promise<boolean> {
  const grant = await grants.of(participant, registry)
  const answered = operationsOfDelivery(delivery)
  const granted = answered.filter((name) => permissionFor(grant, { operation: name }).allowed)
  if (grant === null || granted.length === 0) return false
  const { correlation_id } = delivery
  const consents = correlation_id === null ? [] : await findConsentUses({ pool }, correlation_id)
  const refused = consents.filter((one) => !one.holds || !isConsentGranted(grant, one))
  const readContent = (): JsonValue => JSON.parse(message instanceof CanonicalText ? message.text : JSON.stringify(message))
  if (refused.length > 0) {
    // `refused` has consents of the whole request. If `message` has items, only consents for these items stop it. Otherwise any
    // of the consents stops it.
    const shown = referencesOfItems(readContent())
    if (shown === null || refused.some(({ reference_id }) => shown.has(reference_id))) return false
  }
  const changed = await readGrantAndProtectionChanges(pool, delivery.id, grant.id)
  if (!changed.grant && !changed.protection) return true
  // If the grant is the same, only the protected persons have changed.
  const isSameGrant = !changed.grant
  if (!isSameGrant && granted.every((name) => name === TXN_STATUS_OPERATION)) return false
  const content = readContent()
  if (isSameGrant) return showsNoProtectedPerson(grant, content)
  // If the grant now answers only under a consent (`isLimitedToOnePerson`), a reply that was made without a consent is sent only
  // when it has no records.
  const isConsented = consents.length > 0 || !isLimitedToOnePerson(grant)
  return areRecordsStillShown(isConsented ? grant : { ...grant, recordTypes: new Set() }, content)
}

/** True when the grant and protected persons have not changed since a delivery was made, or when it was made without a grant. */
export async function isDeliveryPermissionUnchanged(
  { grants }: { readonly grants: Grants },
  { disclosedUnder }: Pick<NewDelivery, 'disclosedUnder'>,
  { participant, registry }: { readonly participant: Participant; readonly registry: Registry },
): Promise<boolean> {
  if (disclosedUnder == null) return true
  const grant = await grants.of(participant, registry)
  return grant?.id === disclosedUnder.grant && grant.hidden.protection.version === disclosedUnder.protection
}

/** The reference_ids of the items in a search answer, or in one that a status answer repeats; null for any other answer. */
function referencesOfItems(message: JsonValue): ReadonlySet<JsonValue | undefined> | null {
  if (!isJsonObject(message)) return null
  const { search_response: items, txnstatus_response: told } = message
  if (isJsonObject(told)) return referencesOfItems(told.txn_status ?? null)
  return Array.isArray(items) ? new Set(items.map((item) => (isJsonObject(item) ? item.reference_id : undefined))) : null
}

/** The operation that a delivery answers; all operations with its callback when the operation is not known. */
const operationsOfDelivery = ({ callback, operation: name }: Pick<ClaimedDelivery, 'callback' | 'operation'>): string[] =>
  name == null ? OPERATIONS.filter((row) => row.callback?.name === callback).map((row) => row.name) : [name]
