/** Identifier types that an operator adds to a registry, and the primary identifier types of its records. */

import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { StoreRefusal } from '@rollcall/database/refusal'
import {
  type IdentifierType,
  identifierTypeProblem,
  identifierValue,
  namesOf,
  resolveIdentifierType,
  sortedIdentifiers,
  UNLISTED,
} from '@rollcall/protocol'
import { sql, type Transaction } from 'kysely'
import { hasRows } from '../records/catalog.ts'
import { identifierSortColumn } from '../records/columns.ts'
import { createRecordTables, recordTable, recordTableNames, recordTypesWithTables } from '../records/record-tables.ts'
import { storePrimaryIdentifierTypes } from './primary-identifiers.ts'
import { requireRegistry } from './registries.ts'
import { dropColumns, runAttributeChange } from './registry-attributes.ts'

/**
 * Adds an identifier type to a registry; or adds names, value patterns or `sortable` to a type of the kind.
 * `applyIndexes` reads the existing records again, and no query may ask about the type before that.
 * @throws StoreRefusal what is wrong with the type, or why the registry cannot be changed now
 */
export async function addIdentifierType(db: Database, namespace: string, type: IdentifierType): Promise<Registry> {
  return runAttributeChange(db, namespace, async (transaction, registry) => {
    await insertIdentifierType(transaction, registry, type)
    return applyIdentifierTypeChange(transaction, registry)
  })
}

/**
 * Changes what an operator added: an identifier type, or the additions to a type of the kind.
 * @throws StoreRefusal no such type was added, or as `addIdentifierType`
 */
export async function changeIdentifierType(db: Database, namespace: string, type: IdentifierType): Promise<Registry> {
  return runAttributeChange(db, namespace, async (transaction, registry) => {
    await deleteIdentifierType(transaction, registry, type.name)
    await insertIdentifierType(transaction, await requireRegistry({ kysely: transaction }, namespace), type)
    return applyIdentifierTypeChange(transaction, registry)
  })
}

async function insertIdentifierType(
  transaction: Transaction<unknown>,
  { id, kind, namespace }: Registry,
  { name, ...definition }: IdentifierType,
): Promise<void> {
  const problem = identifierTypeProblem(kind, { name, ...definition })
  if (problem !== null) throw new StoreRefusal(problem)
  const { numAffectedRows } = await sql`insert into registry_identifier_type (registry, name, definition)
    values (${id}, ${name}, ${JSON.stringify(definition)}) on conflict do nothing`.execute(transaction)
  if (numAffectedRows !== 0n) return
  throw new StoreRefusal(`${name} was added to ${namespace} already; rollcall identifier-type set changes it`)
}

async function deleteIdentifierType(transaction: Transaction<unknown>, { id, namespace }: Registry, name: string): Promise<void> {
  const { numAffectedRows } = await sql`delete from registry_identifier_type
    where registry = ${id} and name = ${name}`.execute(transaction)
  if (numAffectedRows !== 0n) return
  throw new StoreRefusal(`no identifier type ${name} was added to ${namespace}`)
}

/**
 * Undoes `addIdentifierType`.
 * @throws StoreRefusal no such type was added, the type is in use, or the registry cannot be changed now
 */
export async function removeIdentifierType(db: Database, namespace: string, given: string): Promise<Registry> {
  return runAttributeChange(db, namespace, async (transaction, registry) => {
    const name = resolveIdentifierType(registry.kind, given)?.name ?? given
    await deleteIdentifierType(transaction, registry, name)
    const left = await requireRegistry({ kysely: transaction }, namespace)
    if (!left.kind.identifier_types.some((one) => one.name === name)) await checkTypeUnused(transaction, registry, name)
    return applyIdentifierTypeChange(transaction, registry)
  })
}

/**
 * Sets the primary identifier types of a registry's records.
 * @throws StoreRefusal the registry has records, or a type cannot be primary
 */
export async function setPrimaryIdentifiers(
  db: Database,
  namespace: string,
  primaries: Readonly<Record<string, string>>,
): Promise<Registry> {
  return runAttributeChange(db, namespace, async (transaction, registry) => {
    if (await hasRows(transaction, recordTableNames(registry))) {
      throw new StoreRefusal(
        `${namespace} has records, which are known by their primary identifier: it can be named only before the first import; add a registry at another namespace`,
      )
    }
    await storePrimaryIdentifierTypes(transaction, registry.id, registry.kind, primaries)
    return applyIdentifierTypeChange(transaction, registry)
  })
}

/**
 * Updates the tables of a registry after a change of its identifier types: copies identifiers of protected persons between
 * UNLISTED and types whose names have changed, and updates columns and indexes. Notes what `applyIndexes` must read again, and
 * returns the changed registry.
 */
async function applyIdentifierTypeChange(transaction: Transaction<unknown>, before: Registry): Promise<Registry> {
  const after = await requireRegistry({ kysely: transaction }, before.namespace)
  // An identifier with a name that the registry does not know has the type UNLISTED. Such a name may now mean a type, and a name
  // of a type may now be unknown. Protected persons must stay hidden under UNLISTED and under that type.
  for (const type of after.kind.identifier_types) {
    if (!hasIdentifierTypeNames(before, type)) await copyProtectedIdentifiers(transaction, before, UNLISTED, type)
  }
  for (const type of before.kind.identifier_types) {
    if (!hasIdentifierTypeNames(after, type)) await copyProtectedIdentifiers(transaction, before, type, UNLISTED)
  }
  for (const recordType of before.kind.record_types) {
    const left = after.kind.record_types.find(({ name }) => name === recordType.name)
    const sorted = left === undefined ? [] : sortedIdentifiers(left)
    const gone = sortedIdentifiers(recordType).filter((type) => !sorted.includes(type))
    await dropColumns(transaction, before, recordType, gone.map(identifierSortColumn))
  }
  await createRecordTables(transaction, after)
  return requireRegistry({ kysely: transaction }, before.namespace)
}

/**
 * Checks that a type is not in use.
 * @throws StoreRefusal the type is primary, records have it, or a person was protected by it
 */
async function checkTypeUnused(transaction: Transaction<unknown>, registry: Registry, type: string): Promise<void> {
  const { namespace, kind } = registry
  const primary = kind.record_types.find((one) => one.primary_identifier === type)
  if (primary !== undefined) {
    throw new StoreRefusal(`${type} is the primary identifier of ${primary.name} in ${namespace}; name another one first`)
  }
  for (const recordType of recordTypesWithTables(registry)) {
    const identifiers = quoteName(recordTable(registry, recordType).identifierTable)
    const { rows } = await sql<{ found: boolean }>`
      select exists (select 1 from ${sql.raw(identifiers)} where type = ${type}) as found`.execute(transaction)
    if (rows[0]?.found !== true) continue
    throw new StoreRefusal(`records of ${namespace} have identifiers of the type ${type}; it can be removed only while none has`)
  }
  const { rows } = await sql`
    select 1 from protected_person where registry = ${registry.id} and type = ${type} limit 1`.execute(transaction)
  if (rows.length > 0) {
    throw new StoreRefusal(`a person is protected by an identifier of the type ${type}; lift that protection first`)
  }
}

/** True when the registry knows the identifier type under its name and all its aliases. */
const hasIdentifierTypeNames = ({ kind }: Registry, type: IdentifierType): boolean =>
  namesOf(type).every((name) => resolveIdentifierType(kind, name)?.name === type.name)

/** Copies the identifiers of protected persons from the type `from` to the type `to`, with values as `to` normalises them. */
async function copyProtectedIdentifiers(
  transaction: Transaction<unknown>,
  { id }: Registry,
  from: IdentifierType,
  to: IdentifierType,
): Promise<void> {
  const { rows } = await sql<{ value: string; person: number }>`
    select value, person from protected_identifier where registry = ${id} and type = ${from.name}`.execute(transaction)
  const values = rows.map(({ value }) => identifierValue(to, value))
  const { numAffectedRows = 0n } = await sql`
    insert into protected_identifier (registry, type, value, person, protects)
    select ${id}, ${to.name}, value, person, false
    from unnest(${values}::text[], ${rows.map(({ person }) => person)}::int[]) as copied (value, person)
    where value is not null on conflict do nothing`.execute(transaction)
  if (numAffectedRows === 0n) return
  await sql`update registry set protection_version = nextval('protection_version') where id = ${id}`.execute(transaction)
}
