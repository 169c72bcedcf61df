/** A transaction whose line is written when all of it is done: what is refused in it has no line. */
import type { Transaction } from 'kysely'
import type { JournalAct } from '../../model/journal.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'

/** Throws what the work throws, and what the journal throws; nothing is committed then. */
export async function commitJournaled<Result>(
  { kysely, journal }: Pick<Database, 'kysely' | 'journal'>,
  act: JournalAct,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  const transaction = await kysely.startTransaction().execute()
  try {
    const result = await work(transaction)
    await journal.write(act, () => transaction.commit().execute())
    return result
  } catch (error) {
    // After a commit that failed there is nothing to roll back, and the first error says why.
    await transaction
      .rollback()
      .execute()
      .catch(() => undefined)
    throw error
  }
}
