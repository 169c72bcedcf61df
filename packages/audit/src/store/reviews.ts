/** Stores the findings of operators about emergencies, in rows of their own: the text of an entry never changes. */
import type { Database } from '@rollcall/database/database'
import { REVIEW_COLUMNS, type StoredEmergencyReview } from './entry-pages.ts'

export type NewEmergencyReview = Omit<StoredEmergencyReview, 'id'>

export async function addEmergencyReview({ pool }: Pick<Database, 'pool'>, review: NewEmergencyReview): Promise<void> {
  const { chain, sequence, at, reviewed_by, sealed } = review
  await pool.query('insert into account_review (chain, sequence, at, reviewed_by, sealed) values ($1, $2, $3, $4, $5)', [
    chain,
    sequence,
    at,
    reviewed_by,
    sealed,
  ])
}

/** Lists the reviews of entries in these chains, the oldest first. */
export async function listEmergencyReviews(
  { pool }: Pick<Database, 'pool'>,
  chains: readonly string[],
): Promise<readonly StoredEmergencyReview[]> {
  if (chains.length === 0) return []
  const { rows } = await pool.query<StoredEmergencyReview>(
    `select ${REVIEW_COLUMNS} from account_review where chain = any($1::uuid[]) order by account_review.at, account_review.id`,
    [[...new Set(chains)]],
  )
  return rows
}
