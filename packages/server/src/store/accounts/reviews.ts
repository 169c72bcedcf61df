/** What operators have found of emergencies. The entries themselves never change: a review is a row beside them. */
import type { Selectable } from 'kysely'
import type { AccountReviewRow } from '../db/account-tables.ts'
import type { Database } from '../db/database.ts'

export type AccountReview = Readonly<Selectable<AccountReviewRow>>

export async function addReview(
  db: Pick<Database, 'kysely'>,
  review: Pick<AccountReview, 'chain' | 'sequence' | 'reviewed_by' | 'sealed'>,
): Promise<AccountReview> {
  return db.kysely.insertInto('account_review').values(review).returningAll().executeTakeFirstOrThrow()
}

/** Of these chains, the oldest first. */
export async function listReviews(
  db: Pick<Database, 'kysely'>,
  chains: readonly string[],
): Promise<readonly AccountReview[]> {
  if (chains.length === 0) return []
  return db.kysely
    .selectFrom('account_review')
    .selectAll()
    .where('chain', 'in', [...new Set(chains)])
    .orderBy('id')
    .execute()
}
