/** The columns of a record: as they are, and as they should be. */

import type { RecordValues } from '@rollcall/core/query/memory/extract-record'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import type { Attribute, AttributeScalar, AttributeValue, RecordIdentifier, RecordType } from '@rollcall/protocol'
import type { RecordTable } from '@rollcall/records/records/record-tables'

type Columns = { [column: string]: unknown }

/**
 * Reads the columns of the records of a table, by id: values as JSON, instants in ISO 8601 in UTC. Columns that every
 * record type has are left out.
 */
export async function columnsHeld(db: Database, { table, recordType }: RecordTable): Promise<Map<number, Columns>> {
  const client = await db.pool.connect()
  try {
    await client.query(`begin; set local time zone 'UTC'`)
    const { rows } = await client.query<{ id: number; held: Columns }>(
      `select id, to_jsonb(record) as held from ${quoteName(table)} as record`,
    )
    await client.query('commit')
    return new Map(rows.map(({ id, held }) => [id, ofAttributes(recordType, held)]))
  } finally {
    client.release()
  }
}

function ofAttributes({ attributes }: RecordType, held: Columns): Columns {
  const { id, primary_identifier, document, created_at, updated_at, import_run, import_line, ...columns } = held
  for (const { name } of attributes.filter(({ type }) => type === 'datetime')) {
    const held = columns[name] as string | string[] | null
    if (held === null) continue
    columns[name] = Array.isArray(held) ? held.map(iso) : iso(held)
  }
  return columns
}

const iso = (text: string): string => new Date(text).toISOString()

/** Computes the columns that a record should have. @param identifiers those of its document */
export function columnsOf(
  { attributes, compounds = [], sort_identifiers = [] }: RecordType,
  record: RecordValues,
  identifiers: readonly RecordIdentifier[],
): Columns {
  const columns: Columns = {}
  for (const attribute of attributes) {
    const value = record.values.get(attribute.name)
    for (const [column, of] of columnsFor(attribute)) columns[column] = value === undefined ? null : of(value)
  }
  for (const { name, members } of compounds) {
    const elements = record.elements.get(name)
    columns[name] =
      elements?.map((element) => {
        const held = members.filter((member) => Object.hasOwn(element, member.name))
        return Object.fromEntries(
          held.flatMap((member) => {
            return columnsFor(member).map(([column, of]) => [column, of(element[member.name] as AttributeScalar)])
          }),
        )
      }) ?? null
  }
  for (const wanted of sort_identifiers) {
    const own = identifiers.filter(({ type, names }) => type === wanted && names === 'record')
    const values = own.map(({ value }) => value)
    columns[`_sort_${wanted.toLowerCase()}`] = values.find((value) => values.every((other) => value <= other)) ?? null
  }
  return columns
}

type Column = [name: string, of: (value: AttributeValue) => unknown]

function columnsFor({ name, type }: Attribute): Column[] {
  if (type === 'age') return []
  if (type !== 'date') return [[name, (value) => value]]
  const end = (end: 'from' | 'to') => (value: AttributeValue) => {
    const days = [value].flat() as { from: string; to: string }[]
    return Array.isArray(value) ? days.map((day) => day[end]) : days[0]?.[end]
  }
  return [
    [`${name}_from`, end('from')],
    [`${name}_to`, end('to')],
  ]
}
