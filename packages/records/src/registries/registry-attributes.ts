/** Attributes that an operator adds to a registry, and indexes that an operator adds to attributes of the kind. */

import type { Registry, RegistryShape } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { joinNameParts, quoteName } from '@rollcall/database/names'
import { StoreRefusal } from '@rollcall/database/refusal'
import {
  type Attribute,
  type AttributeAddition,
  additionProblem,
  kindNamed,
  type RecordType,
  resolveRecordType,
} from '@rollcall/protocol'
import { sql, type Transaction } from 'kysely'
import { DatabaseError } from 'pg'
import { checkTableOwnership } from '../records/catalog.ts'
import { attributeColumns, type RecordColumn } from '../records/columns.ts'
import { createRecordTables, recordTable, recordTableNames } from '../records/record-tables.ts'
import { requireRegistry } from './registries.ts'

/**
 * Adds an attribute to a record type of a registry, with its column. Existing records get the value of the attribute from
 * `applyIndexes`; until then, queries that ask about the attribute are refused. Servers see the attribute within a second.
 * @param replaces whether the added attribute of this name is removed before. That is part of the same transaction, so that a
 * source file that maps the attribute fits the registry at all times
 * @returns the registry with the attribute
 * @throws StoreRefusal what is wrong with the attribute, or why the registry cannot be changed now
 */
export async function addAttribute(
  db: Database,
  namespace: string,
  record_type: string,
  attribute: Attribute,
  { replaces = false }: { readonly replaces?: boolean } = {},
): Promise<Registry> {
  return runAttributeChange(db, namespace, async (transaction, before) => {
    if (replaces) await removeIn(transaction, before, record_type, attribute.name)
    const registry = replaces ? await requireRegistry({ kysely: transaction }, namespace) : before
    const recordType = requireRecordType(registry, record_type)
    const addition = { record_type: recordType.name, attribute }
    if (recordType.attributes.some(({ name }) => name === attribute.name)) {
      throw new StoreRefusal(
        isAttributeOfKind(registry, recordType, attribute.name)
          ? `${recordType.name} has the attribute ${attribute.name} by its kind; rollcall attribute index declares an index for it`
          : `${recordType.name} has the attribute ${attribute.name} already; remove it first`,
      )
    }
    checkAdditionFitsKind(registry, addition)
    const { name, ...definition } = attribute
    const added = await storeAttribute(transaction, registry, recordType, name, definition)
    const addedType = requireRecordType(added, recordType.name)
    checkColumnNames(added, addedType)
    // The table may have a column of this name, if an earlier version's kind had the attribute. The column may have another type.
    await dropColumns(transaction, registry, recordType, attributeColumns(attribute))
    await createRecordTables(transaction, added)
    return requireRegistry({ kysely: transaction }, namespace)
  })
}

/**
 * Declares an index for an attribute that has none. The index is built now if there are no records, otherwise by `applyIndexes`.
 * @throws StoreRefusal there is no such attribute, it has an index, or the registry cannot be changed now
 */
export async function declareAttributeIndex(
  db: Database,
  namespace: string,
  record_type: string,
  name: string,
): Promise<Registry> {
  return runAttributeChange(db, namespace, async (transaction, registry) => {
    const recordType = requireRecordType(registry, record_type)
    const attribute = requireAttribute(recordType, name)
    if (attribute.indexed)
      throw new StoreRefusal(`an index for ${name} of ${recordType.name} is declared already; rollcall index apply builds it`)
    checkAdditionFitsKind(registry, { record_type: recordType.name, attribute: { ...attribute, indexed: true } })
    const { name: _, ...definition } = attribute
    const indexOnly: Partial<Attribute> = { indexed: true }
    const stored = isAttributeOfKind(registry, recordType, name) ? indexOnly : { ...definition, ...indexOnly }
    const indexed = await storeAttribute(transaction, registry, recordType, name, stored)
    await createRecordTables(transaction, indexed)
    return indexed
  })
}

/**
 * Undoes `addAttribute` or `declareAttributeIndex`: removes an added attribute with its column and index, or the added index of
 * an attribute of the kind. Other servers know of the removal within half a second; until then, a search by a removed attribute
 * fails there.
 * @throws StoreRefusal nothing of that name was added, or the registry cannot be changed now
 */
export async function removeAttribute(db: Database, namespace: string, record_type: string, name: string): Promise<void> {
  await runAttributeChange(db, namespace, (transaction, registry) => removeIn(transaction, registry, record_type, name))
}

async function removeIn(transaction: Transaction<unknown>, registry: Registry, record_type: string, name: string): Promise<void> {
  const recordType = requireRecordType(registry, record_type)
  const which = sql`registry = ${registry.id} and record_type = ${recordType.name} and name = ${name}`
  const removed = await sql`delete from registry_attribute where ${which}`.execute(transaction)
  if (removed.numAffectedRows === 0n) {
    throw new StoreRefusal(`no attribute ${name} was added to ${recordType.name} of ${registry.namespace}`)
  }
  const { table } = recordTable(registry, recordType)
  const index = quoteName(joinNameParts(table, name, 'index'))
  await sql.raw(`drop index if exists ${index}`).execute(transaction)
  const attribute = recordType.attributes.find((known) => known.name === name)
  if (attribute === undefined || isAttributeOfKind(registry, recordType, name)) return
  await sql`delete from column_fill where ${which}`.execute(transaction)
  await dropColumns(transaction, registry, recordType, attributeColumns(attribute))
}

/** True when the attribute belongs to the kind; false when an operator added it. */
export function isAttributeOfKind(registry: Registry, recordType: RecordType, name: string): boolean {
  const own = kindNamed(registry.kind.name)?.record_types.find((row) => row.name === recordType.name)
  return own?.attributes.some((attribute) => attribute.name === name) === true
}

/** The record type of this name in the registry's kind. @throws StoreRefusal there is none */
export function requireRecordType({ kind }: Registry, name: string): RecordType {
  const found = resolveRecordType(kind, name)
  if (found !== undefined) return found
  const known = kind.record_types.map((recordType) => recordType.name).join(', ')
  throw new StoreRefusal(`the registry has no record type ${JSON.stringify(name)}; it has ${known}`)
}

function requireAttribute({ name: type, attributes }: RecordType, name: string): Attribute {
  const found = attributes.find((attribute) => attribute.name === name)
  if (found !== undefined) return found
  throw new StoreRefusal(`${type} has no attribute ${JSON.stringify(name)}; rollcall attribute list shows those it has`)
}

function checkAdditionFitsKind({ kind }: Registry, addition: AttributeAddition): void {
  const problem = additionProblem(kind, addition)
  if (problem !== null) throw new StoreRefusal(problem)
}

/** Checks that no two columns would have the same name. @throws StoreRefusal */
function checkColumnNames(registry: Registry, recordType: RecordType): void {
  try {
    recordTable(registry, recordType)
  } catch (error) {
    throw new StoreRefusal(error instanceof Error ? error.message : String(error))
  }
}

async function storeAttribute(
  transaction: Transaction<unknown>,
  { id, namespace }: Registry,
  recordType: RecordType,
  name: string,
  stored: Partial<Attribute>,
): Promise<Registry> {
  const definition = JSON.stringify(stored)
  await sql`insert into registry_attribute (registry, record_type, name, definition)
    values (${id}, ${recordType.name}, ${name}, ${definition})
    on conflict (registry, record_type, name) do update set definition = excluded.definition`.execute(transaction)
  return requireRegistry({ kysely: transaction }, namespace)
}

/** Drops these columns of a record table, where they exist. */
export async function dropColumns(
  transaction: Transaction<unknown>,
  registry: RegistryShape,
  recordType: RecordType,
  columns: readonly RecordColumn[],
): Promise<void> {
  const { table } = recordTable(registry, recordType)
  for (const { name } of columns) {
    const statement = `alter table if exists ${quoteName(table)} drop column if exists ${quoteName(name)}`
    await sql.raw(statement).execute(transaction)
  }
}

/**
 * How long a change of attributes waits for statements that use a record table. It must be short: later statements on the table
 * wait until the change has ended.
 */
const LOCK_TIMEOUT = '5s'

/**
 * Runs a change of a registry's attributes in a transaction, and only while no import and no `applyIndexes` runs: both
 * rely on the columns that existed when they began.
 * @throws StoreRefusal one of them runs, the database user may not change the tables, or a table is in use too long
 */
export async function runAttributeChange<Result>(
  db: Database,
  namespace: string,
  change: (transaction: Transaction<unknown>, registry: Registry) => Promise<Result>,
): Promise<Result> {
  try {
    return await db.kysely.transaction().execute(async (transaction) => {
      await sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`.execute(transaction)
      const { id } = await requireRegistry({ kysely: transaction }, namespace)
      if (
        !(await tryAdvisoryLock(transaction, 'rollcall import', id)) ||
        !(await tryAdvisoryLock(transaction, 'rollcall indexes', id))
      ) {
        throw new StoreRefusal(`an import into ${namespace} or a build of its indexes is running; try again when it has ended`)
      }
      // The registry is read again: another command may have changed it before this one got the locks.
      const registry = await requireRegistry({ kysely: transaction }, namespace)
      await checkTableOwnership(transaction, recordTableNames(registry))
      return await change(transaction, registry)
    })
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== '55P03') throw error
    throw new StoreRefusal(
      `the records of ${namespace} are in use by something that has not ended within ${LOCK_TIMEOUT}; try again`,
    )
  }
}

/** Tries to take the advisory lock of imports or of `applyIndexes`, until the transaction ends. False when the lock is taken. */
async function tryAdvisoryLock(
  transaction: Transaction<unknown>,
  name: 'rollcall import' | 'rollcall indexes',
  registryId: number,
): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtext(${name}), ${registryId}) as locked`.execute(transaction)
  return rows[0]?.locked === true
}
