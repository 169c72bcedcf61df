/** Whether the database answers, and takes what the node writes: asked once a second, however often we are asked. */
import type { DatabaseTrouble } from '../observe/database-trouble.ts'
import { shortLived } from '../shared/short-lived.ts'
import type { Database } from '../store/db/database.ts'
import { takesNoWrites } from '../store/db/database-errors.ts'
import { takeTokens } from '../store/directory/quotas.ts'

/** Milliseconds for which an answer of the database counts. */
const REMEMBERED = 1_000
/** Milliseconds that the database has to answer. */
const PATIENCE = 2_000
/** What is written to see whether anything can be: one row, which no quota uses. */
const PROBE = { bucket: 'ready', rate: 1, capacity: 1, wanted: 1 }

/**
 * After a write was declined it is not ready for some seconds, and then as soon as a write succeeds again. Reads
 * alone would not show it: they are answered while the disk is full.
 */
export function createReadiness(
  db: Pick<Database, 'pool'>,
  trouble: Pick<DatabaseTrouble, 'note' | 'declinesWrites'>,
  options: { readonly now?: () => number } = {},
): () => Promise<boolean> {
  let suspect = false
  const ask = async (): Promise<boolean> => {
    if (!suspect) return answers(db.pool.query('SELECT 1'))
    const written = takeTokens(db, PROBE).catch((error: unknown) => {
      if (takesNoWrites(error)) trouble.note(error)
      throw error
    })
    const taken = await answers(written)
    suspect = !taken
    return taken
  }
  const { get } = shortLived(ask, { maxAge: REMEMBERED, ...options })
  return async () => {
    if (!trouble.declinesWrites()) return get('database')
    suspect = true
    return false
  }
}

async function answers(asked: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<false>()
  const timer = setTimeout(() => late.resolve(false), PATIENCE)
  const answered = asked.then(
    () => true,
    () => false,
  )
  const ready = await Promise.race([answered, late.promise])
  clearTimeout(timer)
  return ready
}
