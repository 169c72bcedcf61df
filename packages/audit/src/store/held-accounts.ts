/** What may be deleted of accounts: by whom, and which entries a hold keeps. */
import type { Database } from '@rollcall/database/database'
import { isHeld } from '@rollcall/database/holds'

/** Whether a hold covers a row of `account`, as SQL: by its person, its participant or its time. */
export const IS_ACCOUNT_HELD = isHeld({
  time: 'account.at',
  sender_id: "account.entry::jsonb ->> 'participant'::text",
  person: `exists (
      select from account_person where account_person.chain = account.chain
        and account_person.sequence = account.sequence and account_person.pseudonym = any(hold.pseudonyms))`,
})

/** Whether the role of these connections may prune and erase accounts. */
export async function mayDeleteAccounts({ pool }: Pick<Database, 'pool'>): Promise<boolean> {
  const { rows } = await pool.query<{ may: boolean }>(
    `select pg_catalog.has_table_privilege('account', 'DELETE')
      and pg_catalog.has_table_privilege('account_person', 'DELETE') as may`,
  )
  return rows[0]?.may === true
}
