/**
 * Protects persons of a registry, ends protections, and lists them. The caller that protects a person or ends a protection must
 * hold the lock `lockRegistryFor(..., 'exclusive change')`.
 */

import type { ProtectedPerson, ProtectionCategory } from '@rollcall/core/model/protection'
import type { Identifier, RecordId } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { NO_STATEMENT_TIMEOUT_SQL } from '@rollcall/database/transaction'
import type { RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import {
  bumpProtectionVersion,
  insertProtectedIdentifiers,
  type ProtectedIdentifier,
  rewriteRecordsNamingPersons,
  storeProtectedRecords,
} from './protected-records.ts'
import { recordTable, recordTypesWithTables } from './record-tables.ts'

/** A protected person, with the number of the records that belong to the person. */
export interface ProtectedPersonRow {
  readonly id: number
  readonly type: string
  readonly value: string
  readonly category: ProtectionCategory
  readonly reason: string
  readonly protected_at: Date
  readonly records: number
}

/** The record of the person to be protected, with its identifiers. */
export interface RecordToProtect {
  readonly recordType: RecordType
  readonly id: RecordId
  readonly identifiers: readonly Identifier[]
}

export interface PersonToProtect {
  /** An identifier of the person. Every record that has it as its own identifier is protected. */
  readonly identifier: Identifier
  readonly category: ProtectionCategory
  readonly reason: string
  /** The record that has the identifier; null when no record has it yet. */
  readonly bearer: RecordToProtect | null
}

/**
 * Protects the person with this identifier. The caller must have checked with `findPersonProtectedBy` that no person is protected
 * by the identifier yet. Returns the number of records that were written again because they may name the person.
 */
export async function protectPerson(
  client: ClientBase,
  registry: RegistryShape,
  { identifier, category, reason, bearer }: PersonToProtect,
): Promise<number> {
  await client.query(NO_STATEMENT_TIMEOUT_SQL)
  const { rows } = await client.query<{ id: number }>(
    `insert into protected_person (registry, type, value, category, reason) values ($1, $2, $3, $4, $5)
     returning id`,
    [registry.id, identifier.type, identifier.value, category, reason],
  )
  const [made] = rows
  if (made === undefined) throw new Error('the protected person was not inserted')
  const person: ProtectedPerson = { id: made.id, category }
  const identifiers = [identifier, ...(bearer?.identifiers ?? [])]
  await insertProtectedIdentifiers(client, registry.id, [{ ...identifier, person: person.id, protects: true }])
  if (bearer !== null) {
    await storeProtectedRecords(client, registry, bearer.recordType, [{ id: bearer.id, own: [person], identifiers }])
  }
  // The planner of PostgreSQL must learn that the table has grown.
  await client.query('analyze protected_record')
  await bumpProtectionVersion(client, registry.id)
  return rewriteRecordsNamingPersons(client, registry, { persons: [person.id], identifiers })
}

/** A record that has got another primary identifier. */
export interface PrimaryIdentifierChange {
  readonly was: string
  readonly is: string
}

/**
 * Protects the new primary identifiers of protected persons. The caller has the lock `lockRegistryFor(..., 'change')`, and writes
 * the records afterwards.
 * @returns those of the new primary identifiers that are stored only now, or that begin to protect records
 */
export async function protectNewPrimaryIdentifiers(
  client: ClientBase,
  registry: RegistryShape,
  { primary_identifier }: RecordType,
  renamed: readonly PrimaryIdentifierChange[],
): Promise<ReadonlySet<string>> {
  if (renamed.length === 0) return new Set()
  const { rows } = await client.query<ProtectedIdentifier>(
    `select known.type, renamed.becomes as value, known.person, true as protects from protected_identifier as known
       join unnest($3::text[], $4::text[]) as renamed (was, becomes) on known.value = renamed.was
     where known.registry = $1 and known.type = $2 and known.protects`,
    [registry.id, primary_identifier, renamed.map(({ was }) => was), renamed.map((one) => one.is)],
  )
  const identifiers = await insertProtectedIdentifiers(client, registry.id, rows)
  if (identifiers.length > 0) {
    // `rewriteRecordsNamingPersons` may search the text of all records, so the statements get no time limit.
    await client.query(NO_STATEMENT_TIMEOUT_SQL)
    await bumpProtectionVersion(client, registry.id)
    await rewriteRecordsNamingPersons(client, registry, { persons: [], identifiers })
  }
  return new Set(identifiers.map(({ value }) => value))
}

/** Finds the person for whose protection the operator named this identifier (`PersonToProtect`); null when there is none. */
export async function findPersonProtectedBy(
  client: Pick<ClientBase, 'query'>,
  registryId: number,
  { type, value }: Identifier,
): Promise<ProtectedPerson | null> {
  const { rows } = await client.query<ProtectedPerson>(
    'select id, category from protected_person where registry = $1 and type = $2 and value = $3',
    [registryId, type, value],
  )
  return rows[0] ?? null
}

/** Ends a protection. Returns the number of records that were written again because they may name the person. */
export async function unprotectPerson(client: ClientBase, registry: RegistryShape, person: number): Promise<number> {
  await client.query('delete from protected_identifier where person = $1', [person])
  await bumpProtectionVersion(client, registry.id)
  const rewritten = await rewriteRecordsNamingPersons(client, registry, { persons: [person], identifiers: [] })
  await client.query('delete from protected_person where id = $1', [person])
  await bumpProtectionVersion(client, registry.id)
  return rewritten
}

/**
 * Returns the ids of the protected persons who have an identifier. If one of them was protected by this very identifier, returns
 * only the id of that person.
 */
export async function findProtectedPersonIds(
  client: Pick<ClientBase, 'query'>,
  registryId: number,
  { type, value }: Identifier,
): Promise<readonly number[]> {
  const { rows } = await client.query<{ person: number; exact: boolean }>(
    `select person, exists (select 1 from protected_person where id = person and protected_person.type = known.type
         and protected_person.value = known.value) as exact
     from protected_identifier as known where registry = $1 and type = $2 and value = $3 order by person`,
    [registryId, type, value],
  )
  const exact = rows.filter((row) => row.exact)
  return (exact.length > 0 ? exact : rows).map(({ person }) => person)
}

/** Lists the protected persons of a registry, in the order in which they were protected. */
export async function listProtected(
  { pool }: Pick<Database, 'pool'>,
  registry: RegistryShape,
): Promise<readonly ProtectedPersonRow[]> {
  // `protected_record` also has rows of deleted and merged records. They are not counted.
  const types = recordTypesWithTables(registry)
  const exists = types.map((recordType, at) => {
    const table = quoteName(recordTable(registry, recordType).table)
    return `(own.record_type = $${at + 2} and exists (select 1 from ${table} where id = own.record))`
  })
  const { rows } = await pool.query<ProtectedPersonRow>(
    `select id, type, value, category, reason, protected_at,
       (select count(*)::int from protected_record as own
         where own.person = protected_person.id and (${exists.join(' or ') || 'false'})) as records
     from protected_person where registry = $1 order by id`,
    [registry.id, ...types.map(({ name }) => name)],
  )
  return rows
}
