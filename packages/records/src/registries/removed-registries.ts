/** Removes the stored records of a registry. */
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { type RowsStoredByPackage, rowsToRemove } from '@rollcall/database/removal'
import { withTransaction } from '@rollcall/database/transaction'
import type { ClientBase } from 'pg'

/** The rows about a registry's records in tables that all registries share. They are deleted when the registry is removed. */
export const RECORD_ROWS_TO_REMOVE: RowsStoredByPackage = {
  removed: rowsToRemove('registry', [
    'retired_record',
    'record_tombstone',
    'enrolment_ledger',
    'protected_record',
    'protected_reference',
    'column_rules',
  ]),
}

/** Drops the record tables of a registry, and deletes its row. */
export function removeRegistryAndRecords(db: Pick<Database, 'pool'>, id: number): Promise<void> {
  return withTransaction(db.pool, async (client) => {
    await dropRecordTables(client, id)
    await client.query('delete from registry where id = $1', [id])
  })
}

/**
 * Drops the record tables of a registry whose records were copied from a source, and the rows about these records in shared
 * tables. The caller makes sure that no search reads the tables.
 * @param id the id of the registry
 */
export async function dropMirroredRecords(client: Pick<ClientBase, 'query'>, id: number): Promise<void> {
  await dropRecordTables(client, id)
  // New record tables count record ids from 1 again. A row with an old record id that stayed in a shared table would then be
  // about another record.
  for (const table of ['record_tombstone', 'protected_record', 'protected_reference', 'column_rules', 'column_fill']) {
    await client.query(`delete from ${table} where registry = $1`, [id])
  }
}

async function dropRecordTables(client: Pick<ClientBase, 'query'>, id: number): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'
      and starts_with(relname, 'r' || $1::integer || '_') order by relname`,
    [id],
  )
  if (rows.length > 0) await client.query(`drop table ${rows.map(({ name }) => quoteName(name)).join(', ')}`)
}
