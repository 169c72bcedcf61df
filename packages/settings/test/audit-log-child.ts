/** A process that is killed: it writes audit entries, many at a time, and prints the number of each that is written. */

import { openDatabase } from '@rollcall/database/database'
import { openAuditLog } from '@rollcall/settings/storage'
import { auditEntry } from '../../audit/test/audit-entry.ts'
import { testConfig } from './config.ts'

const db = openDatabase(JSON.parse(process.env.CONNECTION ?? '{}'))
const { ROLLCALL_MASTER_KEY = '' } = process.env
const config = testConfig({ ROLLCALL_MASTER_KEY, DATABASE_URL: 'postgres://unused', limits: { checkpoint_entries: 50 } })
const auditLog = openAuditLog(config, db)
const run = process.env.RUN ?? ''
let next = 0
const write = async (): Promise<void> => {
  for (;;) {
    const number = next
    next += 1
    await auditLog.write(auditEntry({ transaction_id: `${run}-${number}` }), [
      { role: 'seen', identifiers: [{ type: 'UIN', value: String(number) }] },
    ])
    process.stdout.write(`${run}-${number}\n`)
  }
}
await Promise.all(Array.from({ length: 20 }, write))
