/** Protecting persons of a registry, and lifting that. Those who call hold `lockEvents(..., 'merge')`. */
import type { RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import type { ProtectedPerson, ProtectionCategory } from '../../model/protection.ts'
import type { Identifier, RecordId } from '../../model/records.ts'
import type { RegistryShape } from '../../model/registry.ts'
import type { Database } from '../db/database.ts'
import { addBearers, changeProtection, rewriteReferences } from './protected-records.ts'

export interface ProtectedRow {
  readonly id: number
  readonly type: string
  readonly value: string
  readonly category: ProtectionCategory
  readonly reason: string
  readonly protected_at: Date
  /** Records of the person. */
  readonly records: number
}

/** The record of a person, with all that finds it. */
export interface Bearer {
  readonly recordType: RecordType
  readonly id: RecordId
  readonly identifiers: readonly Identifier[]
}

interface NewProtection {
  /** Whichever record bears it as its own is protected. */
  readonly identifier: Identifier
  readonly category: ProtectionCategory
  readonly reason: string
  /** Null: there is no record yet. */
  readonly bearer: Bearer | null
}

/** Null: the identifier protects somebody already. Otherwise how many records of others were found by the person too. */
export async function protectPerson(
  client: ClientBase,
  registry: RegistryShape,
  { identifier, category, reason, bearer }: NewProtection,
): Promise<number | null> {
  await client.query("select set_config('statement_timeout', '0', true)")
  const { rows } = await client.query<{ id: number }>(
    `insert into protected_person (registry, type, value, category, reason) values ($1, $2, $3, $4, $5)
     on conflict do nothing returning id`,
    [registry.id, identifier.type, identifier.value, category, reason],
  )
  const [made] = rows
  if (made === undefined) return null
  const person: ProtectedPerson = { id: made.id, category }
  const identifiers = [identifier, ...(bearer?.identifiers ?? [])]
  if (bearer === null) {
    await client.query(
      'insert into protected_identifier (registry, type, value, person) values ($1, $2, $3, $4)',
      [registry.id, identifier.type, identifier.value, person.id],
    )
  } else {
    await addBearers(client, registry, bearer.recordType, [{ id: bearer.id, own: [person], identifiers }])
  }
  // Plans of searches were made while the table was smaller.
  await client.query('analyze protected_record')
  await changeProtection(client, registry.id, { isNew: true })
  return rewriteReferences(client, registry, { persons: [person.id], identifiers })
}

/** Lifts the protection. @returns how many records of others are found by the person again */
export async function unprotectPerson(
  client: ClientBase,
  registry: RegistryShape,
  person: number,
): Promise<number> {
  await client.query('delete from protected_identifier where person = $1', [person])
  await changeProtection(client, registry.id)
  const rewritten = await rewriteReferences(client, registry, { persons: [person], identifiers: [] })
  await client.query('delete from protected_person where id = $1', [person])
  await changeProtection(client, registry.id)
  return rewritten
}

/** The protected persons whom an identifier names. */
export async function findProtected(
  client: Pick<ClientBase, 'query'>,
  registryId: number,
  { type, value }: Identifier,
): Promise<readonly number[]> {
  const { rows } = await client.query<{ person: number }>(
    `select person from protected_identifier where registry = $1 and type = $2 and value = $3 order by person`,
    [registryId, type, value],
  )
  return rows.map(({ person }) => person)
}

/** All of a registry, in the order in which they were protected. */
export async function listProtected(
  { pool }: Pick<Database, 'pool'>,
  registryId: number,
): Promise<readonly ProtectedRow[]> {
  const { rows } = await pool.query<ProtectedRow>(
    `select id, type, value, category, reason, protected_at,
       (select count(*)::int from protected_record where person = protected_person.id) as records
     from protected_person where registry = $1 order by id`,
    [registryId],
  )
  return rows
}
