/** Reads the protected persons of a registry from the database. */

import {
  NOBODY_PROTECTED,
  type ProtectedPerson,
  type Protection,
  protectionKey,
  withoutProtectedPersons,
} from '@rollcall/core/model/protection'
import type { Identifier, RecordId } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { isJsonObject, type JsonValue, type RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'

type Connection = Pick<ClientBase, 'query'>

/**
 * The protection that was read last, by connection and registry id. It is kept by connection, because ids and versions are valid
 * in one database only.
 */
const protectionByConnection = new WeakMap<Connection, Map<number, Protection>>()

/**
 * Returns the current protection of a registry. Reads its version in each call, and the rest only when `client` has not read the
 * protection of this version before.
 */
export async function readProtection(client: Connection, registryId: number): Promise<Protection> {
  const { rows } = await client.query<{ version: number }>({
    name: 'protection version',
    text: 'select protection_version as version from registry where id = $1',
    values: [registryId],
  })
  const version = rows[0]?.version ?? 0
  if (version === 0) return NOBODY_PROTECTED
  const memory = protectionByConnection.get(client) ?? new Map<number, Protection>()
  protectionByConnection.set(client, memory)
  const known = memory.get(registryId)
  if (known?.version === version) return known
  const found = await readProtectionTables(client, registryId, version)
  memory.set(registryId, found)
  return found
}

interface ProtectedIdentifierRow extends Identifier {
  readonly person: number
  readonly protects: boolean
}

async function readProtectionTables(client: Connection, registryId: number, version: number): Promise<Protection> {
  const persons = await client.query<ProtectedPerson>(
    'select id, category from protected_person where registry = $1 order by id',
    [registryId],
  )
  const identifiers = await client.query<ProtectedIdentifierRow>(
    'select type, value, person, protects from protected_identifier where registry = $1 order by person',
    [registryId],
  )
  const byId = new Map(persons.rows.map((person) => [person.id, person]))
  const byIdentifier = new Map<string, ProtectedPerson[]>()
  const byProtectingIdentifier = new Map<string, ProtectedPerson[]>()
  for (const { person, protects, ...identifier } of identifiers.rows) {
    const found = byId.get(person)
    if (found === undefined) continue
    const key = protectionKey(identifier)
    byIdentifier.set(key, [...(byIdentifier.get(key) ?? []), found])
    if (protects) byProtectingIdentifier.set(key, [...(byProtectingIdentifier.get(key) ?? []), found])
  }
  return { version, byIdentifier, byProtectingIdentifier }
}

/** Returns a document without protected persons other than the record's own. Columns and identifiers are made from the result. */
export function parseWithoutProtectedPersons(
  { kind }: RegistryShape,
  recordType: RecordType,
  protection: Protection,
  text: string,
): JsonValue {
  const document: JsonValue = JSON.parse(text)
  return isJsonObject(document) ? withoutProtectedPersons(kind, recordType, protection, document).document : document
}

/** The statement that reads the categories under which these records are protected, deleted records included. */
export const protectionCategoriesStatement = ({ id }: RegistryShape, record_type: string, ids: readonly RecordId[]) => ({
  name: 'categories of records',
  text: `select record::text, array_agg(distinct category) as categories from protected_record
    where registry = $1 and record_type = $2 and record = any($3::bigint[]) group by record`,
  values: [id, record_type, [...ids]],
})

/** SQL that gives `Protection.version`. @param registry SQL of the registry's id, such as `record.registry` */
export const protectionVersionSql = (registry: string): string =>
  `(select protected.protection_version from registry as protected where protected.id = ${registry})`
