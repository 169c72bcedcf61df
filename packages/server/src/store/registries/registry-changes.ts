/** Changing the tables of one registry while nothing else does. */

import { type Kysely, sql, type Transaction } from 'kysely'
import { DatabaseError } from 'pg'
import type { Registry, RegistryShape } from '../../model/registry.ts'
import type { Database } from '../db/database.ts'
import { StoreRefusal } from '../db/refusal.ts'
import type { Tables } from '../db/tables.ts'
import { ownershipOf } from '../records/catalog.ts'
import { recordTable } from '../records/record-tables.ts'
import { registryAt } from './registries.ts'

/** How long a change waits for what uses the table; whoever comes meanwhile waits behind it. */
const LOCK_TIMEOUT = '5s'

/**
 * Runs a change of a registry's attributes in a transaction, while no import and no `applyIndexes` runs: both go by
 * the columns that were there when they began.
 * @throws StoreRefusal one of them runs, the tables are not ours to change, or something uses them too long
 */
export async function changeRegistry<Result>(
  db: Database,
  namespace: string,
  change: (transaction: Transaction<Tables>, registry: Registry) => Promise<Result>,
): Promise<Result> {
  try {
    return await db.kysely.transaction().execute(async (transaction) => {
      await sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`.execute(transaction)
      const { id } = await registryAt({ kysely: transaction }, namespace)
      if (!(await holdImports(transaction, id)) || !(await holdIndexes(transaction, id))) {
        throw new StoreRefusal(
          `an import into ${namespace} or a build of its indexes is running; try again when it has ended`,
        )
      }
      // Read again: what held the registry until now may have changed it.
      const registry = await registryAt({ kysely: transaction }, namespace)
      await checkOwnership(transaction, registry)
      return await change(transaction, registry)
    })
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== '55P03') throw error
    throw new StoreRefusal(
      `the records of ${namespace} are in use by something that has not ended within ${LOCK_TIMEOUT}; try again`,
    )
  }
}

/** As `claimImport` claims, to the end of the transaction. */
async function holdImports(transaction: Transaction<Tables>, registryId: number): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`
    select pg_try_advisory_xact_lock(hashtext('rollcall import'), ${registryId}) as held`.execute(transaction)
  return rows[0]?.held === true
}

/** As `applyIndexes` claims, to the end of the transaction. */
async function holdIndexes(transaction: Transaction<Tables>, registryId: number): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`
    select pg_try_advisory_xact_lock(hashtext('rollcall indexes'), ${registryId}) as held`.execute(
    transaction,
  )
  return rows[0]?.held === true
}

/** @throws StoreRefusal the database's user may not change the registry's tables */
export async function checkOwnership(db: Kysely<Tables>, registry: RegistryShape): Promise<void> {
  for (const recordType of registry.kind.record_types) {
    const { table } = recordTable(registry, recordType)
    const found = await ownershipOf(db, table)
    if (found === null) continue
    if (!found.may_change) {
      throw new StoreRefusal(
        `the database user ${found.user} does not own the table ${table}; give DATABASE_URL the login of its owner ${found.owner}`,
      )
    }
    if (!found.may_create) {
      throw new StoreRefusal(
        `the database user ${found.user} may not make indexes: grant it CREATE on the schema of the table ${table}`,
      )
    }
  }
}
