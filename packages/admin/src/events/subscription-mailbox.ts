/** Acts on the mailbox of a subscription: sends a test, fills the mailbox, and opens it again. */

import { readStoredCriteria } from '@rollcall/core/events/criteria'
import { keysOfFilter } from '@rollcall/core/events/filing'
import type { Registry } from '@rollcall/core/model/registry'
import { replaceAgesByDates } from '@rollcall/core/query/resolve-ages'
import { withTransaction } from '@rollcall/database/transaction'
import { endSubscriptionSuspension, openMailbox } from '@rollcall/delivery/store/events/closing'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { insertSubscriptionFilterKeys } from '@rollcall/delivery/store/events/subscription-states'
import {
  findSubscriptionToNotify,
  findUnfinishedBackfill,
  insertTestNotification,
  queueBackfill,
  type SubscriptionToNotify,
} from '@rollcall/delivery/store/events/tests-and-backfills'
import { canonicalJson, dayIn, type JsonObject } from '@rollcall/protocol'
import { findRegistry } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasClock, HasDatabase } from '../deps.ts'
import { isSubscriptionGrantedNow } from '../grants/subscriptions.ts'
import { closed, dateOf, instant, text, wholeNumber } from '../members.ts'
import { type HasSamples, syntheticRecords } from '../registries/samples.ts'

const Code = text('Code of the subscription.')

/** Queues one notification with a synthetic record, marked as a test, in the mailbox of the subscription. */
export const testSubscription = defineAct(
  { name: 'subscriptions test', approval: 'never', input: closed({ code: Code }), result: closed({ code: Code }) },
  async (deps: HasSamples, { code }) => {
    await queueTestNotification(deps, code)
    return { code }
  },
)

/** Queues a test notification. @throws AdminRefusal the subscription cannot get one now */
export async function queueTestNotification({ db, samples }: HasSamples, code: string): Promise<void> {
  const { subscription, registry } = await requireSubscription({ db }, code)
  if (subscription.mailbox_state === 'closed') {
    throw new AdminRefusal('code: the mailbox of the subscription is closed; resume the subscription first')
  }
  await insertTestNotification(db, subscription, canonicalJson(requireSyntheticRecord(registry, subscription, samples)))
}

/** Returns a synthetic record of the subscription's record type. @throws AdminRefusal there is none */
function requireSyntheticRecord(
  registry: Pick<Registry, 'kind'>,
  { record_type: name }: SubscriptionToNotify,
  samples: HasSamples['samples'],
): JsonObject {
  for (const sample of syntheticRecords({ samples }, registry, { name })) return sample
  throw new AdminRefusal(`code: there is no synthetic ${name} of the kind ${registry.kind.name}`)
}

/** The most records for which one transaction of a backfill queues notifications. */
const BACKFILL_PAGE_SIZE = 500

/** Queues a notification for each record that matches the subscription now. The next call continues an interrupted backfill. */
export const backfillSubscription = defineAct(
  {
    name: 'subscriptions backfill',
    approval: {
      when: 'always',
      role: 'operate',
      // The number of matching records is not known before the backfill.
      concerns: async (_: HasDatabase, asked) => ({ about: asked, wanted: { queues: 'every record that matches now' } }),
    },
    input: closed({ code: Code, since: Type.Optional(instant('Only records that were written at this time or later.')) }),
    result: closed({ code: Code, queued: wholeNumber('Records that this call has queued.') }),
  },
  async ({ db, now = () => new Date() }: HasDatabase & HasClock, { code, since }) => {
    const { subscription, registry } = await requireSubscription({ db }, code)
    if (subscription.state !== 'live') {
      throw new AdminRefusal('code: the subscription is suspended; resume it first')
    }
    if (since !== undefined && isSourceReadLive(registry)) {
      throw new AdminRefusal(
        `since: the records of ${registry.namespace} are read live, and their database does not say when each was written; use a mirror, or leave it out`,
      )
    }
    const { recordType, predicate } = readStoredCriteria(registry.kind, subscription.criteria)
    const unfinished = await findUnfinishedBackfill(db, subscription.id)
    const writtenSince = since === undefined ? null : dateOf(since)
    if (unfinished !== null && unfinished.since?.getTime() !== writtenSince?.getTime()) {
      const was = unfinished.since === null ? 'without it' : `with ${unfinished.since.toISOString()}`
      throw new AdminRefusal(
        `since: an earlier backfill of the subscription was interrupted and is continued first; it was begun ${was}`,
      )
    }
    const day = dayIn(registry.time_zone, now().getTime())
    const which = {
      recordType,
      predicate: predicate && replaceAgesByDates(predicate, recordType, day),
      since: writtenSince,
      limit: BACKFILL_PAGE_SIZE,
    }
    let queued = 0
    for (let after = unfinished?.last ?? null; ; ) {
      const page = await queueBackfill(db, registry, subscription, { ...which, after })
      if (page === null) throw new AdminRefusal('code: another backfill of the subscription goes on')
      queued += page.records
      after = page.last
      if (after === null) return { code, queued }
    }
  },
)

/** True when the registry reads its records live from a source. */
const isSourceReadLive = ({ source }: Registry): boolean => source !== null && 'way' in source && source.way === 'live'

/** Resumes a suspended subscription and opens its mailbox: notifications that wait there are sent. */
export const resumeSubscription = defineAct(
  { name: 'subscriptions resume', approval: 'never', input: closed({ code: Code }), result: closed({ code: Code }) },
  async ({ db }: HasDatabase, { code }) => {
    const { subscription, registry } = await requireSubscription({ db }, code)
    const { predicate } = readStoredCriteria(registry.kind, subscription.criteria)
    if (!(await isSubscriptionGrantedNow(db, registry, subscription))) {
      throw new AdminRefusal('code: the grant of its participant does not allow the subscription')
    }
    await withTransaction(db.pool, async (client) => {
      await lockRegistryFor(client, registry.id, 'subscribe')
      const now = await findSubscriptionToNotify(client, code)
      if (now?.state !== 'suspended') {
        throw new AdminRefusal(`code: the subscription is ${now?.state ?? 'gone'}, not suspended`)
      }
      await endSubscriptionSuspension(client, now.id)
      const { id: subscription, event_type, record_type } = now
      const keys = keysOfFilter(predicate).map((key) => ({ subscription, event_type, record_type, ...key }))
      await insertSubscriptionFilterKeys(client, registry.id, keys)
      await openMailbox(client, now.mailbox)
    })
    return { code }
  },
)

/** Finds a subscription and its registry. @throws AdminRefusal there is no such subscription, or it has ended */
async function requireSubscription(
  { db }: HasDatabase,
  code: string,
): Promise<{ readonly subscription: SubscriptionToNotify; readonly registry: Registry }> {
  const subscription = await findSubscriptionToNotify(db.pool, code)
  if (subscription === undefined) {
    throw new AdminRefusal('code: there is no such subscription', { reason: 'not_found' })
  }
  if (subscription.state === 'ended') {
    throw new AdminRefusal('code: the subscription has ended', { reason: 'conflict' })
  }
  const registry = await findRegistry(db, subscription.namespace)
  if (registry === null) throw new AdminRefusal('code: its registry is not there any more')
  return { subscription, registry }
}
