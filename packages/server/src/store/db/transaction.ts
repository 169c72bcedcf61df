/** A transaction on one connection, for what goes past Kysely: COPY and prepared statements. */
import type { ClientBase } from 'pg'

/**
 * Commits when the work is done; rolls back and throws on when it fails.
 * @param begin how it begins
 */
export async function inTransaction<Result>(
  client: ClientBase,
  work: () => Promise<Result>,
  begin = 'begin',
): Promise<Result> {
  await client.query(begin)
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    // When this fails too the connection is gone, and the first error says why.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}
