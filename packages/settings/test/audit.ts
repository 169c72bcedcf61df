/** Test helpers: the dependencies of admin functions about the audit log, and a writer of entries. */

import type { AuditEntry, AuditedPerson } from '@rollcall/core/model/audit-entry'
import { readConfig } from '@rollcall/settings/config'
import { openAuditLog, openVault } from '@rollcall/settings/storage'
import { afterAll, onTestFinished, TestRunner } from 'vitest'
import { masterKeyOfRun, type TestDatabase } from '../../keys/test/postgres.ts'
import { auditEntry } from './audit-log.ts'

export function auditing({ db }: Pick<TestDatabase, 'db'>) {
  const config = readConfig({ ROLLCALL_MASTER_KEY: masterKeyOfRun(), DATABASE_URL: 'postgres://test' })
  const vault = () => openVault(config, db)
  let writer = openAuditLog(config, db)
  const auditLog = openAuditLog(config, db)
  // Hooks run in the reverse order: before the database is closed. Within a test `afterAll` is never called.
  const atEnd = TestRunner.getCurrentTest() === undefined ? afterAll : onTestFinished
  atEnd(async () => {
    await Promise.all([writer.close(), auditLog.close()])
  })
  return {
    deps: { db, vault, auditLog, caller: { kind: 'shell', user: 'auditor' } as const },
    addEntry: (entry: Partial<AuditEntry>, persons: readonly AuditedPerson[] = []) => writer.write(auditEntry(entry), persons),
    /** Signs what was written; what is written afterwards is of another process. */
    async sign() {
      const ended = writer
      writer = openAuditLog(config, db)
      await ended.close()
    },
  }
}

/** A person in a role, by identifiers such as `UIN:1`. */
export const personAs = (role: AuditedPerson['role'], ...identifiers: string[]): AuditedPerson => ({
  role,
  identifiers: identifiers.map((text) => {
    const [type = '', value = ''] = text.split(':')
    return { type, value }
  }),
})
