/** Finds the pages of an answer that were sent, or wait to be sent. */
import type { StoredEnvelope } from '@rollcall/core/model/delivery'
import type { Database } from '@rollcall/database/database'

export interface StoredAnswerPage {
  /** The id of the delivery. */
  readonly id: string
  readonly body: StoredEnvelope
}

/** Finds a page of the answer to an exchange; null: the page has no delivery, or the delivery was deleted. */
export async function findSentPage(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
  page: number,
): Promise<StoredAnswerPage | null> {
  const { rows } = await pool.query<StoredAnswerPage>({
    name: 'find sent page',
    text: 'select id, body from delivery where correlation_id = $1 and page = $2 order by created_at limit 1',
    values: [correlation_id, page],
  })
  return rows[0] ?? null
}
