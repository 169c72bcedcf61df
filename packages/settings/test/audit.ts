/** What the admin functions about accounts work with in tests, and a writer of entries. */

import type { AccountEntry, AccountedPerson } from '@rollcall/core/model/account'
import { readConfig } from '@rollcall/settings/config'
import { openAccounts, openVault } from '@rollcall/settings/storage'
import { afterAll, onTestFinished, TestRunner } from 'vitest'
import { masterKeyOfRun, type TestDatabase } from '../../keys/test/postgres.ts'
import { accountEntry } from './accounts.ts'

export function auditing({ db }: Pick<TestDatabase, 'db'>) {
  const config = readConfig({ ROLLCALL_MASTER_KEY: masterKeyOfRun(), DATABASE_URL: 'postgres://test' })
  const vault = () => openVault(config, db)
  let writer = openAccounts(config, db)
  const accounts = openAccounts(config, db)
  // Hooks run in the reverse order: before the database is closed. Within a test `afterAll` is never called.
  const atEnd = TestRunner.getCurrentTest() === undefined ? afterAll : onTestFinished
  atEnd(async () => {
    await Promise.all([writer.close(), accounts.close()])
  })
  return {
    needs: { db, vault, accounts, caller: { kind: 'shell', user: 'auditor' } as const },
    account: (entry: Partial<AccountEntry>, persons: readonly AccountedPerson[] = []) =>
      writer.write(accountEntry(entry), persons),
    /** Signs what was written; what is written afterwards is of another process. */
    async sign() {
      const ended = writer
      writer = openAccounts(config, db)
      await ended.close()
    },
  }
}

/** A person in a role, by identifiers such as `UIN:1`. */
export const personAs = (role: AccountedPerson['role'], ...identifiers: string[]): AccountedPerson => ({
  role,
  identifiers: identifiers.map((text) => {
    const [type = '', value = ''] = text.split(':')
    return { type, value }
  }),
})
