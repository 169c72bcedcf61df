/** A record type with an attribute of every type but age, and three records, of which the last has no attribute. */

import type { Comparator, Comparison, ElementList, Interval, Literal, OneOf, Predicate } from '@rollcall/core/model/predicate'
import type { RegistryShape } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { inTransaction } from '@rollcall/database/transaction'
import { type Attribute, type Compound, type JsonValue, KINDS, type Kind, type RecordType } from '@rollcall/protocol'
import { prepareRecord } from '@rollcall/records/records/prepare-record'
import { ensureRecordTables, recordTable } from '@rollcall/records/records/record-tables'
import { writeRecords } from '@rollcall/records/records/record-writer'
import type { SqlCondition } from '../src/records/search-statement.ts'

const [civil] = KINDS as readonly [Kind, ...Kind[]]

const of = (name: string, type: Attribute['type'], more: Partial<Attribute> = {}): Attribute => ({
  name,
  paths: [name],
  type,
  indexed: true,
  ...more,
})

export const surname = of('surname', 'text', { sortable: true })
export const sex = of('sex', 'code')
export const born = of('born', 'date', { sortable: true })
export const seen = of('seen', 'datetime', { sortable: true })
export const score = of('score', 'number', { sortable: true })
export const alive = of('alive', 'boolean')
export const tag = of('tag', 'text', { many: true })
export const visit = of('visit', 'datetime', { many: true })
export const married = of('married', 'date', { many: true })
/** An attribute without an index. */
export const note: Attribute = { name: 'note', paths: ['note'], type: 'text' }

const member = (name: string, type: Attribute['type']): Attribute => ({ name, paths: [name], type })
export const cropType = member('crop_type', 'code')
export const area = member('area', 'number')
export const sown = member('sown', 'date')
export const watered = member('watered', 'datetime')
export const crop: Compound = { name: 'crop', paths: ['crop'], members: [cropType, area, sown, watered], indexed: true }

export const recordType: RecordType = {
  ...civil.record_types[0],
  name: 'TestPerson',
  attributes: [surname, sex, born, seen, score, alive, tag, visit, married, note],
  compounds: [crop],
  identifiers: [{ path: 'identifier', names: 'record' }],
}

export const registry: RegistryShape = { id: 1, kind: { ...civil, record_types: [recordType] } }
export const table = recordTable(registry, recordType)

const identified = (uin: string, ...others: [type: string, value: string][]) => ({
  identifier: [['UIN', uin] as const, ...others].map(([identifier_type, identifier_value]) => ({
    identifier_type,
    identifier_value,
  })),
})

export const DOCUMENTS: readonly JsonValue[] = [
  {
    ...identified('U1', ['MOBILE', '+15550101']),
    surname: 'abc',
    sex: 'f',
    born: '1985-06',
    seen: '2024-01-01T10:00:00Z',
    score: 1.5,
    alive: true,
    tag: ['a', 'b'],
    visit: ['2024-01-01T10:00:00Z'],
    married: ['2001-02-03', '2010'],
    crop: [{ crop_type: 'maize', area: 2, sown: '2024-03-01', watered: '2024-04-01T00:00:00Z' }, { crop_type: 'rice' }],
  },
  {
    ...identified('U2', ['MOBILE', '+15550102']),
    surname: 'abd',
    sex: 'm',
    born: '1985-06-12',
    seen: '2024-01-02T00:00:00Z',
    score: 3,
    alive: false,
    tag: ['c'],
    visit: ['2024-01-02T00:00:00Z'],
    married: ['2001-02-03'],
    crop: [{ crop_type: 'rice', area: 2 }],
  },
  identified('U3'),
]

/** Makes the tables and writes the three records; their ids are 1 to 3. */
export async function writeFixture(db: Database): Promise<void> {
  await ensureRecordTables(db, registry)
  const prepared = DOCUMENTS.map((document) => prepareRecord(registry.kind, recordType, document))
  const client = await db.pool.connect()
  try {
    await inTransaction(client, () => writeRecords(client, registry, recordType, prepared))
  } finally {
    client.release()
  }
}

/** The ids of the records for which a condition is true. */
export async function whichMatch(db: Database, { text, values }: SqlCondition): Promise<readonly number[]> {
  const { rows } = await db.pool.query<{ id: number }>(
    `select record.id from r1_test_person as record where ${text} order by id`,
    [...values],
  )
  return rows.map(({ id }) => id)
}

// Predicates in few words.
export const is = (attribute: Attribute, operator: Comparator, value: Literal): Comparison => ({
  is: 'compare',
  attribute,
  operator,
  value,
})
export const oneOf = (attribute: Attribute, ...values: Literal[]): OneOf => ({ is: 'in', attribute, values })
export const some = (list: ElementList, of: Predicate): Predicate => ({ is: 'some', list, of })
export const exists = (attribute: Attribute, list?: ElementList): Predicate => ({
  is: 'exists',
  attribute,
  ...(list !== undefined && { list }),
})
export const and = (...of: Predicate[]): Predicate => ({ is: 'and', of })
export const or = (...of: Predicate[]): Predicate => ({ is: 'or', of })
export const not = (of: Predicate): Predicate => ({ is: 'not', of })
export const hasIdentifier = (...identifiers: [type: string, value: string][]): Predicate => ({
  is: 'identifier',
  identifiers: identifiers.map(([type, value]) => ({ type, value })),
})
export const days = (from: string, to = from): Interval => ({ from, to })
/** Instants of 1 January 2024, by their times. */
export const times = (from: string, to = from): Interval => ({ from: `2024-01-01T${from}Z`, to: `2024-01-01T${to}Z` })
