/** The newest entries of the accounts, and what a review found of emergencies. */

import type { AccountKeys } from '@rollcall/audit/keys'
import { openReview, type Review as SealedReview, sealReview } from '@rollcall/audit/reviews'
import type { StoredReview } from '@rollcall/audit/store/account-pages'
import { accountAt, emergencyAccounts, newestAccounts } from '@rollcall/audit/store/read-accounts'
import { addReview, listReviews } from '@rollcall/audit/store/reviews'
import { databaseTime } from '@rollcall/audit/store/write-accounts'
import { ACCOUNT_KINDS } from '@rollcall/core/model/account'
import { perPool } from '@rollcall/database/group-commit'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { type Acting, act } from '../act.ts'
import { callerText } from '../caller.ts'
import { closed, flag, instant, personalData, text, timeOut, wholeNumber } from '../members.ts'
import type { HasDatabase, HasVault } from '../needs.ts'
import { AdminRefusal } from '../use-case.ts'
import {
  ACCOUNT,
  AccountId,
  accountFacts,
  accountKeysOf,
  CONFIDENTIAL,
  confidentialFacts,
  type HasSearchLimit,
  periodOf,
  placeBefore,
  placeOf,
} from './facts.ts'

export { ACCOUNT_KINDS } from '@rollcall/core/model/account'

const Limit = Type.Optional(wholeNumber('At most so many (default: 50).', 1, 10_000))

/**
 * The newest entries. They name no person. Where entries that were looked through are bounded, a page may have fewer than its
 * limit, and the next one goes on behind them.
 */
export const listAccounts = act(
  {
    name: 'audit list',
    approval: 'never',
    entry: 'within',
    input: closed({
      participant: Type.Optional(text('Only those of this sender_id.')),
      namespace: Type.Optional(text('Only those of this registry.')),
      kind: Type.Optional(oneOf(ACCOUNT_KINDS, { description: 'Sort of entries.' })),
      from: Type.Optional(instant('Only those of this time or later.')),
      to: Type.Optional(instant('Only those before this time.')),
      before: Type.Optional(text('Only those behind this one: for the next page, the last id of this one.')),
      limit: Limit,
    }),
    result: Type.Array(closed(ACCOUNT)),
  },
  async (
    needs: HasDatabase & HasSearchLimit,
    { participant, namespace, kind, from, to, before, limit = 50 },
    enter,
  ) => {
    const place = await placeBefore(needs.db, before)
    const filter = { participant, registry: namespace, kind, before: place, ...periodOf({ from, to }) }
    const { found, rest } = await newestAccounts(needs.db, filter, { limit, most: needs.limits?.searched_accounts })
    await enter()
    if (rest !== null && found.length === 0) {
      throw new AdminRefusal(
        `no such entry was found back to ${timeOut(rest)}, and older ones were not looked through: go on with to=${timeOut(rest)}`,
        { reason: 'conflict' },
      )
    }
    return found.map(accountFacts)
  },
)

const Review = closed({ at: instant('When.'), reviewed_by: text('Who.'), note: personalData(text('What was found.')) })

/** Lists uses of the emergency part of a grant, the oldest first, with the reason that was given. */
export const listEmergencies = act(
  {
    name: 'audit emergencies',
    approval: 'never',
    entry: 'within',
    input: closed({
      reviewed: Type.Optional(flag('Those that somebody has reviewed; otherwise those that nobody has.')),
      limit: Limit,
    }),
    result: Type.Array(closed({ ...ACCOUNT, ...CONFIDENTIAL, reviews: Type.Array(Review) })),
  },
  async (needs: HasVault, { reviewed = false, limit = 50 }, enter) => {
    const found = []
    for await (const { account, facts, reviews } of emergencies(needs)) {
      if (reviews.length > 0 === reviewed) found.push({ ...accountFacts(account), ...facts, reviews })
      if (found.length === limit) break
    }
    await enter()
    return found
  },
)

/** The oldest first, with what was accounted encrypted, and what reviews found. */
async function* emergencies(needs: HasVault) {
  const keys = await accountKeysOf(needs)
  for await (const accounts of emergencyAccounts(needs.db)) {
    const reviews = await listReviews(
      needs.db,
      accounts.map(({ chain }) => chain),
    )
    const ofPlace = Map.groupBy(reviews, (review) => `${review.chain} ${review.sequence}`)
    for (const account of accounts) {
      const rows = ofPlace.get(`${account.chain} ${account.sequence}`) ?? []
      const opened = rows.flatMap((review) => openedReview(keys, review))
      yield { account, facts: confidentialFacts(keys, account), reviews: opened }
    }
  }
}

/** Milliseconds for which the emergencies that nobody has reviewed are not counted again: each count opens all reviews. */
const COUNTED_FOR = 30_000
/** Emergencies without a review that are counted. */
export const MOST_COUNTED = 1_000

/** The numbers by namespace. */
type Counts = ReadonlyMap<string | null, number>

/** The last count: calls at the same time share one, and a review on this node ends it. */
const lastCount = perPool((): { at: number; counting: Promise<Counts> | null } => ({ at: 0, counting: null }))

/**
 * The number of emergencies that nobody has reviewed, at most 1,000 of all registries, as of half a minute ago.
 * @param namespace undefined: of all registries
 * @param now milliseconds
 */
export async function countUnreviewed(needs: HasVault, namespace: string | undefined, now: number): Promise<number> {
  const last = lastCount(needs.db.pool)
  const known = now - last.at < COUNTED_FOR ? last.counting : null
  const counting = known ?? unreviewedByRegistry(needs)
  if (known === null) Object.assign(last, { at: now, counting })
  const counts = await counting.catch((error: unknown) => {
    if (last.counting === counting) last.counting = null
    throw error
  })
  if (namespace !== undefined) return counts.get(namespace) ?? 0
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}

async function unreviewedByRegistry(needs: HasVault): Promise<Counts> {
  const counts = new Map<string | null, number>()
  let total = 0
  for await (const { account, reviews } of emergencies(needs)) {
    if (reviews.length > 0) continue
    const { registry } = account.entry
    counts.set(registry, (counts.get(registry) ?? 0) + 1)
    total += 1
    if (total === MOST_COUNTED) break
  }
  return counts
}

/** Nothing where the row is not as it was sealed: whoever can only write to the database would hide an emergency. */
function openedReview({ confidential }: AccountKeys, row: StoredReview) {
  const review = openReview(confidential, row)
  return review === null ? [] : [reviewFacts(review)]
}

const reviewFacts = ({ at, reviewed_by, finding }: SealedReview) => ({ at, reviewed_by, note: finding })

/** Says that an emergency was reviewed, and what was found. The account itself never changes. */
export const reviewEmergency = act(
  {
    name: 'audit review',
    approval: 'never',
    entry: 'within',
    input: closed({
      id: AccountId,
      note: personalData(Type.String({ minLength: 1, maxLength: 2_000, description: 'What was found.' })),
    }),
    result: closed({ id: AccountId, ...Review.properties }),
  },
  async (needs: HasVault & Acting, { id, note }, enter) => {
    const place = placeOf(id)
    const account = await accountAt(needs.db, place)
    if (account?.entry.emergency !== true) {
      throw new AdminRefusal('no emergency has this id; rollcall audit emergencies lists them', { reason: 'not_found' })
    }
    const { confidential } = await accountKeysOf(needs)
    await enter({ registry: account.entry.registry ?? undefined })
    const at = (await databaseTime(needs.db.pool)).toISOString()
    const review = { finding: note, reviewed_by: callerText(needs.caller), at }
    await addReview(needs.db, sealReview(confidential, place, review))
    lastCount(needs.db.pool).counting = null
    return { id, ...reviewFacts(review) }
  },
)
