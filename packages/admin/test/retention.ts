/** The dependencies of the owner's admin functions, on a database of a test. */

import type { RetentionDeps } from '@rollcall/admin/persons/retention'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { openDatabase } from '@rollcall/database/database'
import { startedDatabase, type TestDatabase } from '../../keys/test/postgres.ts'
import { type TestAuditLog, testAuditLog, vaultOf } from '../../settings/test/audit-log.ts'

export interface RetentionTest {
  readonly database: TestDatabase
  /** The audit log of the process that writes entries; the functions write theirs into the same chain. */
  readonly auditLog: TestAuditLog
  readonly deps: (at?: Date) => RetentionDeps & { readonly owner: TestDatabase['db'] }
  readonly rows: (statement: string, ...values: unknown[]) => Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

export async function retentionTest(): Promise<RetentionTest> {
  const database = await startedDatabase()
  const owner = openDatabase(database.owner)
  const auditLog = testAuditLog(database.db)
  const { db } = database
  return {
    database,
    auditLog,
    deps: (at = new Date()) => ({
      db,
      owner,
      auditLog,
      caller: { kind: 'shell', user: 'tester' } as const,
      limits: DEFAULT_LIMITS,
      vault: () => vaultOf(db),
      now: () => at,
    }),
    rows: async (statement, ...values) => (await owner.pool.query(statement, values)).rows,
    async close() {
      await auditLog.close()
      await owner.close()
      await database.close()
    },
  }
}
