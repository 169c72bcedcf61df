/** Removing a registry: what is stored of its records. */
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { rowsOf, type StoredPart } from '@rollcall/database/removal'
import { withTransaction } from '@rollcall/database/transaction'

export const STORED_OF_RECORDS: StoredPart = {
  removed: rowsOf('registry', [
    'retired_record',
    'record_tombstone',
    'enrolment_ledger',
    'protected_record',
    'protected_reference',
    'column_rules',
  ]),
}

/** Drops the tables of the records, and deletes the registry. */
export function removeRegistryRow(db: Pick<Database, 'pool'>, id: number): Promise<void> {
  return withTransaction(db.pool, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'
        and starts_with(relname, 'r' || $1::integer || '_') order by relname`,
      [id],
    )
    if (rows.length > 0) {
      await client.query(`drop table ${rows.map(({ name }) => quoteName(name)).join(', ')}`)
    }
    await client.query('delete from registry where id = $1', [id])
  })
}
