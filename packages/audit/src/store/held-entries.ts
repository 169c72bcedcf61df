/** Finds out which audit entries a hold protects, and whether a role of the database may delete entries. */
import type { Database } from '@rollcall/database/database'
import { isHeldSql } from '@rollcall/database/holds'
import { personRowsSql } from './packed-persons.ts'

/** SQL condition on a row of `ENTRIES_WITH_CONTENT_SQL`: a hold protects it by its person, its participant or its time. */
export const IS_ENTRY_HELD_SQL = isHeldSql({
  time: 'account.at',
  sender_id: "account.content::jsonb ->> 'participant'::text",
  person: `exists (
      select from ${personRowsSql()} as person where person.chain = account.chain
        and person.sequence = account.sequence and person.pseudonym = any(hold.pseudonyms))`,
})

/** True when the role of these connections may prune and erase entries. */
export async function mayDeleteEntries({ pool }: Pick<Database, 'pool'>): Promise<boolean> {
  const { rows } = await pool.query<{ may: boolean }>(
    `select pg_catalog.has_table_privilege('account', 'DELETE')
      and pg_catalog.has_table_privilege('account_person', 'DELETE')
      and pg_catalog.has_table_privilege('account_entry', 'UPDATE') as may`,
  )
  return rows[0]?.may === true
}
