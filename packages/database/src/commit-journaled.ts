/** A transaction that writes its line of the journal after its work: a refused one has no line. */

import type { JournalAct } from '@rollcall/core/model/journal'
import type { Transaction } from 'kysely'
import type { Database } from './database.ts'

/**
 * Throws what the work or the journal throws; nothing is committed then.
 * @param actOf the line of the journal; null when a restore may undo the work
 * @param beside is done when the transaction is committed; the line stays open until then
 */
export async function commitJournaled<Result>(
  { kysely, journal }: Pick<Database, 'kysely' | 'journal'>,
  work: (transaction: Transaction<unknown>) => Promise<Result>,
  actOf: (result: Result) => JournalAct | null,
  beside: (result: Result) => Promise<unknown> = async () => undefined,
): Promise<Result> {
  const transaction = await kysely.startTransaction().execute()
  try {
    const result = await work(transaction)
    const act = actOf(result)
    const commit = async () => {
      await transaction.commit().execute()
      await beside(result)
    }
    await (act === null ? commit() : journal.write(act, commit))
    return result
  } catch (error) {
    // A failed commit leaves nothing to roll back, and the first error says why.
    await transaction
      .rollback()
      .execute()
      .catch(() => undefined)
    throw error
  }
}
