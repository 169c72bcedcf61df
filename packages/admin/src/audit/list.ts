/** Lists the newest audit entries, and the emergencies with their reviews. */

import type { AuditKeys } from '@rollcall/audit/keys'
import {
  decryptEmergencyReview,
  encryptEmergencyReview,
  type EmergencyReviewDetails as SealedReview,
} from '@rollcall/audit/reviews'
import type { StoredEmergencyReview } from '@rollcall/audit/store/entry-pages'
import { findEntryAt, findNewestEntries, readEmergencyEntries } from '@rollcall/audit/store/read-entries'
import { addEmergencyReview, listEmergencyReviews } from '@rollcall/audit/store/reviews'
import { readDatabaseTime } from '@rollcall/audit/store/write-entries'
import { AUDIT_KINDS } from '@rollcall/core/model/audit-entry'
import { oncePerPool } from '@rollcall/database/group-commit'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { type BaseActDeps, defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import { callerText } from '../caller.ts'
import type { HasDatabase, HasVault } from '../deps.ts'
import { closed, flag, instant, isoTime, markPersonal, text, wholeNumber } from '../members.ts'
import {
  AUDIT_ENTRY_MEMBERS,
  auditKeysOf,
  CONFIDENTIAL_MEMBERS,
  confidentialFacts,
  EntryId,
  entryFacts,
  entryPlaceOf,
  type HasSearchedEntriesLimit,
  readPeriod,
  requireEntryBeforePage,
} from './facts.ts'

export { AUDIT_KINDS } from '@rollcall/core/model/audit-entry'

const Limit = Type.Optional(wholeNumber('At most so many (default: 50).', 1, 10_000))

/**
 * Lists audit entries, the newest first, without persons. With `limits`, one call searches a limited number of entries, so a page
 * may have fewer entries than the input `limit`. The next page continues after its last entry.
 * @throws AdminRefusal the search ended at `limits` and had found no entry; the message says where to go on
 */
export const listAuditEntries = defineAct(
  {
    name: 'audit list',
    approval: 'never',
    entry: 'within',
    input: closed({
      participant: Type.Optional(text('Only those of this sender_id.')),
      namespace: Type.Optional(text('Only those of this registry.')),
      kind: Type.Optional(oneOf(AUDIT_KINDS, { description: 'Sort of entries.' })),
      from: Type.Optional(instant('Only those of this time or later.')),
      to: Type.Optional(instant('Only those before this time.')),
      before: Type.Optional(text('Only those behind this one: for the next page, the last id of this one.')),
      limit: Limit,
    }),
    result: Type.Array(closed(AUDIT_ENTRY_MEMBERS)),
  },
  async (deps: HasDatabase & HasSearchedEntriesLimit, { participant, namespace, kind, from, to, before, limit = 50 }, enter) => {
    const place = await requireEntryBeforePage(deps.db, before)
    const filter = { participant, registry: namespace, kind, before: place, ...readPeriod({ from, to }) }
    const { found, rest } = await findNewestEntries(deps.db, filter, { limit, most: deps.limits?.searched_entries })
    await enter()
    if (rest !== null && found.length === 0) {
      throw new AdminRefusal(
        `no such entry was found back to ${isoTime(rest)}, and older ones were not looked through: go on with to=${isoTime(rest)}`,
        { reason: 'conflict' },
      )
    }
    return found.map(entryFacts)
  },
)

const EmergencyReview = closed({ at: instant('When.'), reviewed_by: text('Who.'), note: markPersonal(text('What was found.')) })

/** Lists emergency uses of grants, the oldest first: those with a review if `reviewed` is true, else those without. */
export const listEmergencies = defineAct(
  {
    name: 'audit emergencies',
    approval: 'never',
    entry: 'within',
    input: closed({
      reviewed: Type.Optional(flag('Those that somebody has reviewed; otherwise those that nobody has.')),
      limit: Limit,
    }),
    result: Type.Array(closed({ ...AUDIT_ENTRY_MEMBERS, ...CONFIDENTIAL_MEMBERS, reviews: Type.Array(EmergencyReview) })),
  },
  async (deps: HasVault, { reviewed = false, limit = 50 }, enter) => {
    const found = []
    for await (const { logged, facts, reviews } of readEmergencies(deps)) {
      if (reviews.length > 0 === reviewed) found.push({ ...entryFacts(logged), ...facts, reviews })
      if (found.length === limit) break
    }
    await enter()
    return found
  },
)

/** Yields emergency uses of grants, the oldest first, with their decrypted details and the findings of reviews. */
async function* readEmergencies(deps: HasVault) {
  const keys = await auditKeysOf(deps)
  for await (const entries of readEmergencyEntries(deps.db)) {
    const reviews = await listEmergencyReviews(
      deps.db,
      entries.map(({ chain }) => chain),
    )
    const ofPlace = Map.groupBy(reviews, (review) => `${review.chain} ${review.sequence}`)
    for (const logged of entries) {
      const rows = ofPlace.get(`${logged.chain} ${logged.sequence}`) ?? []
      const opened = rows.flatMap((review) => decryptReview(keys, review))
      yield { logged, facts: confidentialFacts(keys, logged), reviews: opened }
    }
  }
}

/** Milliseconds for which the number of unreviewed emergencies is cached: a count decrypts many reviews. */
const UNREVIEWED_COUNT_CACHE_MS = 30_000
/** The most unreviewed emergencies that are counted. */
export const MOST_EMERGENCIES_COUNTED = 1_000

/** The number of unreviewed emergencies by namespace; the key null is for entries that name no registry. */
type UnreviewedCounts = ReadonlyMap<string | null, number>

/** The cached count. Calls at the same time share one count; a review on this node empties the cache. */
const unreviewedCountCacheOf = oncePerPool((): { at: number; counting: Promise<UnreviewedCounts> | null } => ({
  at: 0,
  counting: null,
}))

/**
 * Counts the emergencies that nobody has reviewed, at most 1,000 in all registries. The count may be half a minute old.
 * @param namespace undefined: of all registries
 * @param now milliseconds
 */
export async function countUnreviewedEmergencies(deps: HasVault, namespace: string | undefined, now: number): Promise<number> {
  const last = unreviewedCountCacheOf(deps.db.pool)
  const known = now - last.at < UNREVIEWED_COUNT_CACHE_MS ? last.counting : null
  const counting = known ?? countUnreviewedByRegistry(deps)
  if (known === null) Object.assign(last, { at: now, counting })
  const counts = await counting.catch((error: unknown) => {
    if (last.counting === counting) last.counting = null
    throw error
  })
  if (namespace !== undefined) return counts.get(namespace) ?? 0
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}

async function countUnreviewedByRegistry(deps: HasVault): Promise<UnreviewedCounts> {
  const counts = new Map<string | null, number>()
  let total = 0
  for await (const { logged, reviews } of readEmergencies(deps)) {
    if (reviews.length > 0) continue
    const { registry } = logged.entry
    counts.set(registry, (counts.get(registry) ?? 0) + 1)
    total += 1
    if (total === MOST_EMERGENCIES_COUNTED) break
  }
  return counts
}

/**
 * Decrypts a stored review, as a list of one; an empty list if its row was altered, so that a writer of the database
 * cannot hide an emergency.
 */
function decryptReview({ confidential }: AuditKeys, row: StoredEmergencyReview) {
  const review = decryptEmergencyReview(confidential, row)
  return review === null ? [] : [reviewFacts(review)]
}

const reviewFacts = ({ at, reviewed_by, finding }: SealedReview) => ({ at, reviewed_by, note: finding })

/** Stores an operator's review of an emergency, with the finding. The emergency's audit entry stays as it is. */
export const reviewEmergency = defineAct(
  {
    name: 'audit review',
    approval: 'never',
    entry: 'within',
    input: closed({
      id: EntryId,
      note: markPersonal(Type.String({ minLength: 1, maxLength: 2_000, description: 'What was found.' })),
    }),
    result: closed({ id: EntryId, ...EmergencyReview.properties }),
  },
  async (deps: HasVault & BaseActDeps, { id, note }, enter) => {
    const place = entryPlaceOf(id)
    const logged = await findEntryAt(deps.db, place)
    if (logged?.entry.emergency !== true) {
      throw new AdminRefusal('no emergency has this id; rollcall audit emergencies lists them', { reason: 'not_found' })
    }
    const { confidential } = await auditKeysOf(deps)
    await enter({ registry: logged.entry.registry ?? undefined })
    const at = (await readDatabaseTime(deps.db.pool)).toISOString()
    const review = { finding: note, reviewed_by: callerText(deps.caller), at }
    await addEmergencyReview(deps.db, encryptEmergencyReview(confidential, place, review))
    unreviewedCountCacheOf(deps.db.pool).counting = null
    return { id, ...reviewFacts(review) }
  },
)
