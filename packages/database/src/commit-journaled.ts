/** Runs work in a transaction, and writes a line to the journal before the commit. Work that throws writes no line. */

import type { JournalAct } from '@rollcall/core/model/journal'
import type { Transaction } from 'kysely'
import type { Database } from './database.ts'

/**
 * Does the work and commits it, after its line is in the journal.
 * @param actOf returns the act to write into the journal; null: nothing is written, and a restore may undo the work
 * @param beside runs after the commit. Until it has ended, the line stays open, and a restore repeats its act
 * @throws the error of the work, or of the journal when it cannot write: then nothing is committed. Also the error of `beside`:
 * then the work is committed.
 */
export async function commitJournaledWork<Result>(
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
    // If the rollback fails too, its error is ignored: the first error says why the work failed.
    await transaction
      .rollback()
      .execute()
      .catch(() => undefined)
    throw error
  }
}
