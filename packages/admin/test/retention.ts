/** The dependencies of the owner's admin functions, on a database of a test. */

import type { RetentionNeeds } from '@rollcall/admin/persons/retention'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { openDatabase } from '@rollcall/database/database'
import { startedDatabase, type TestDatabase } from '../../keys/test/postgres.ts'
import { type TestAccounts, testAccounts, vaultOf } from '../../settings/test/accounts.ts'

export interface RetentionTest {
  readonly database: TestDatabase
  /** The accounts of the process that writes them; the functions write theirs into the same chain. */
  readonly accounts: TestAccounts
  readonly needs: (at?: Date) => RetentionNeeds & { readonly owner: TestDatabase['db'] }
  readonly rows: (statement: string, ...values: unknown[]) => Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

export async function retentionTest(): Promise<RetentionTest> {
  const database = await startedDatabase()
  const owner = openDatabase(database.owner)
  const accounts = testAccounts(database.db)
  const { db } = database
  return {
    database,
    accounts,
    needs: (at = new Date()) => ({
      db,
      owner,
      accounts,
      caller: { kind: 'shell', user: 'tester' } as const,
      limits: DEFAULT_LIMITS,
      vault: () => vaultOf(db),
      now: () => at,
    }),
    rows: async (statement, ...values) => (await owner.pool.query(statement, values)).rows,
    async close() {
      await accounts.close()
      await owner.close()
      await database.close()
    },
  }
}
