import { Kysely, PostgresDialect } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { countRowsRead } from '../../../database/test/rows-read.ts'
import { query } from '../../../database/test/statement.ts'
import { startedDatabase } from '../../../keys/test/postgres.ts'
import { testAuditLog } from '../../../settings/test/audit-log.ts'
import { auditEntry } from '../../test/audit-entry.ts'
import { insertCheckpoints } from '../../test/checkpoints.ts'
import { findOpenChains } from './open-chains.ts'

const [ENDED, SIGNED, UNSIGNED] = [1, 2, 3].map((number) => `00000000-0000-4000-8000-00000000000${number}`) as [
  string,
  string,
  string,
]

test('the chains that have not ended are found by few look-ups, however many entries and checkpoints there are', async () => {
  const on = await startedDatabase()
  onTestFinished(() => on.close())
  const auditLog = testAuditLog(on.db)
  await auditLog.write(auditEntry(), [])
  await query(
    on.owner,
    `with one as (delete from account_entry returning account_entry)
      insert into account_entry select (jsonb_populate_record(account_entry,
        jsonb_build_object('chain', chain, 'sequence', sequence))).*
      from one, unnest($1::uuid[]) as chain, generate_series(1, 2000) as sequence`,
    [[ENDED, SIGNED, UNSIGNED]],
  )
  await insertCheckpoints(on.owner, { chain: ENDED, from: 1, to: 1_999 }, { ended: false })
  await insertCheckpoints(on.owner, { chain: ENDED, from: 2_000, to: 2_000 }, { ended: true })
  await insertCheckpoints(on.owner, { chain: SIGNED, from: 1, to: 1_500 }, { ended: false })
  await query(on.owner, 'analyze account_entry, account_checkpoint')
  const statements: { readonly sql: string; readonly parameters: readonly unknown[] }[] = []
  const log = ({ query }: { readonly query: (typeof statements)[number] }) => void statements.push(query)
  expect(await findOpenChains(new Kysely({ dialect: new PostgresDialect({ pool: on.db.pool }), log }))).toEqual([
    { chain: SIGNED, sequence: 2_000, signed: 1_500 },
    { chain: UNSIGNED, sequence: 2_000, signed: 0 },
  ])
  const [statement] = statements
  expect(await countRowsRead(on.db.pool, statement?.sql ?? '', statement?.parameters)).toBeLessThan(100)
})
