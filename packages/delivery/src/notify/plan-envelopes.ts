/** Plans the next envelopes of a mailbox from the notifications that are due, wanted and permitted. */

import { allowsEveryFilter, isSubscriptionGranted } from '@rollcall/core/events/granted'
import type { Grant } from '@rollcall/core/model/grant'
import type { Registry } from '@rollcall/core/model/registry'
import { isConsentGranted } from '@rollcall/core/policy/basis'
import { isRecordTextGranted } from '@rollcall/core/policy/disclosure'
import { permissionFor } from '@rollcall/core/policy/permission'
import type { Database } from '@rollcall/database/database'
import { withTransaction } from '@rollcall/database/transaction'
import type { CallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { identifierValue, resolveIdentifierType } from '@rollcall/protocol'
import { recordsOf } from '@rollcall/records/records/registry-records'
import type pg from 'pg'
import { readCriteriaTexts } from '../store/events/find-subscriptions.ts'
import { suspendSubscriptions } from '../store/events/subscription-states.ts'
import {
  dropNotifications,
  findWaitingNotifications,
  redirectToOlderNotifications,
  type WaitingNotification,
} from '../store/events/waiting.ts'
import { groupIntoEnvelopes, type PlannedItem } from './group-items.ts'
import { findNotificationsHiddenByGrant } from './hidden-notifications.ts'

/** The registry of a mailbox, with the grant and the envelope limits of its participant. */
interface EnvelopePlanningContext {
  readonly registry: Registry
  readonly grant: Grant | null
  readonly settings: Pick<CallbackSettings, 'notify_items' | 'notify_bytes'>
}

/** The fewest due notifications that one read asks for, so that several envelopes are planned at a time. */
const LEAST_NOTIFICATIONS_PER_READ = 400
/**
 * When the notifications that were read do not fill an envelope, more are read: `times` as many as in the last read, but at most
 * `most`.
 */
const NOTIFICATIONS_PER_READ_GROWTH = { times: 8, most: 20_000 }

/** An envelope that is not composed yet. */
export interface PlannedEnvelope {
  readonly items: readonly PlannedItem[]
  /** True when another envelope of the mailbox may be due now. */
  readonly isFollowed: boolean
}

/**
 * Plans the next envelopes of a mailbox; none when nothing that may be sent is due. Due notifications that may not be sent are
 * dropped for good.
 */
export async function planNextEnvelopes(db: Database, mailbox: number, to: EnvelopePlanningContext): Promise<PlannedEnvelope[]> {
  // One notification more than needed is read: it shows whether the last item is complete.
  let most = Math.max(to.settings.notify_items, LEAST_NOTIFICATIONS_PER_READ) + 1
  for (;;) {
    const found = await findWaitingNotifications(db.pool, mailbox, most)
    const envelopes = groupIntoEnvelopes(await keepSendableNotifications(db, to, found), to.settings)
    const isEveryDueRead = found.length < most
    // Some notifications that were not read may belong to the last envelope, so it is planned again later. But a single envelope
    // is kept when `most` cannot grow.
    if (!isEveryDueRead && (envelopes.length > 1 || most < NOTIFICATIONS_PER_READ_GROWTH.most)) envelopes.pop()
    if (isEveryDueRead || envelopes.length > 0)
      return envelopes.map((items, at) => ({ items, isFollowed: !isEveryDueRead || at < envelopes.length - 1 }))
    most = Math.min(NOTIFICATIONS_PER_READ_GROWTH.times * most, NOTIFICATIONS_PER_READ_GROWTH.most)
  }
}

/**
 * Drops notifications that are no longer wanted or permitted, and corrections that have nothing to correct. Returns the other
 * notifications, without the identifier of a survivor that the grant hides. Suspends a subscription that the grant no longer
 * permits, but not when the grant hides only the record.
 */
async function keepSendableNotifications(
  db: Database,
  { grant, registry }: EnvelopePlanningContext,
  found: readonly WaitingNotification[],
): Promise<readonly WaitingNotification[]> {
  const { pool } = db
  const forbidden = await findForbiddenSubscriptions(pool, grant, found)
  const isPermitted = ({ subscription, subscribed, record_type, unfiltered, consent }: WaitingNotification): boolean =>
    !forbidden.has(subscription) &&
    grant !== null &&
    isConsentGranted(grant, consent) &&
    permissionFor(grant, { operation: 'subscribe', event_type: subscribed, record_type, unfiltered }).allowed
  const refused = found.filter((one) => !one.unwanted && !isPermitted(one))
  if (refused.length > 0) {
    const subscriptions = [...new Set(refused.map(({ subscription }) => subscription))]
    await withTransaction(pool, (client) => suspendSubscriptions(client, subscriptions, 'not_permitted'))
  }
  const dropped = new Set([
    ...refused,
    ...(await findNotificationsHiddenByGrant(db, { registry, grant }, found)),
    ...found.filter(({ unwanted }) => unwanted),
  ])
  if (dropped.size > 0) {
    await dropNotifications(
      pool,
      [...dropped].map(({ id }) => id),
    )
  }
  const left = await redirectOrDropCorrections(
    pool,
    found.filter((one) => !dropped.has(one)),
  )
  if (grant === null || left.every(({ replaced_by }) => replaced_by === null)) return left
  return Promise.all(left.map((one) => omitSurvivorHiddenByGrant(db, grant, registry, one)))
}

/** For each grant and subscription that was judged: true when the grant permits the criteria of the subscription. */
const criteriaPermissionCache = new WeakMap<Grant, Map<number, boolean>>()

/** Finds the subscriptions whose criteria the grant no longer permits. */
async function findForbiddenSubscriptions(
  pool: pg.Pool,
  grant: Grant | null,
  found: readonly WaitingNotification[],
): Promise<ReadonlySet<number>> {
  if (grant === null || allowsEveryFilter(grant)) return new Set()
  const known = criteriaPermissionCache.get(grant) ?? new Map<number, boolean>()
  criteriaPermissionCache.set(grant, known)
  const subscriptions = new Set(found.map(({ subscription }) => subscription))
  const unknown = [...subscriptions].filter((subscription) => !known.has(subscription))
  const read = unknown.length === 0 ? [] : await readCriteriaTexts(pool, unknown)
  for (const [id, criteria] of read) known.set(id, isSubscriptionGranted(grant, criteria))
  return new Set([...subscriptions].filter((subscription) => known.get(subscription) === false))
}

/**
 * Redirects a correction whose earlier notification was dropped: it then corrects the last notification before the dropped one
 * that was not dropped itself. When there is none, the correction is dropped: it would reveal a hidden event.
 */
async function redirectOrDropCorrections(
  pool: pg.Pool,
  found: readonly WaitingNotification[],
): Promise<readonly WaitingNotification[]> {
  const corrections = found.filter(({ corrected_notification: earlier }) => earlier !== null).map(({ id }) => id)
  if (corrections.length === 0) return found
  const redirected = new Map((await redirectToOlderNotifications(pool, corrections)).map((other) => [other.id, other]))
  const unsent = [...redirected.values()].filter(({ corrected_notification: earlier }) => earlier === null).map(({ id }) => id)
  if (unsent.length > 0) await dropNotifications(pool, unsent)
  return found
    .filter(({ id }) => !unsent.includes(id))
    .map((one) => {
      return { ...one, ...redirected.get(one.id) }
    })
}

/**
 * Returns the notification, without the identifier of the survivor if the grant has conditions for its record type, and the
 * survivor is gone or does not fulfil them now.
 */
async function omitSurvivorHiddenByGrant(
  db: Database,
  grant: Grant,
  registry: Registry,
  one: WaitingNotification,
): Promise<WaitingNotification> {
  const { replaced_by, record_type } = one
  if (replaced_by === null || !grant.rows.has(record_type)) return one
  const recordType = registry.kind.record_types.find(({ name }) => name === record_type)
  const type = resolveIdentifierType(registry.kind, replaced_by.type)
  const value = type === undefined ? null : identifierValue(type, replaced_by.value)
  if (recordType === undefined || value === null) return { ...one, replaced_by: null }
  const survivors = await recordsOf(db, registry).within(db.pool).named(registry, recordType, [value])
  const isFound = survivors.some(({ document }) => isRecordTextGranted(grant, recordType, document))
  return isFound ? one : { ...one, replaced_by: null }
}
