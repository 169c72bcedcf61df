/**
 * Proposes a source file from the catalog of a database and some of its rows. The proposal has names of tables and
 * columns, and codes, but no other value.
 */

import { nearestNameHint } from '@rollcall/base/shared/message-words'
import { type LookupTable, MOST_CODES } from '@rollcall/import/propose-codes'
import { makeComparableName, proposeColumns } from '@rollcall/import/propose-mapping'
import type { Kind, RecordType } from '@rollcall/protocol'
import { makeDatabaseFailureRefusal } from './database-refusal.ts'
import type { CatalogTable } from './engine/catalog.ts'
import type { ColumnComparisonName } from './engine/comparison-names.ts'
import type { OpenEngine } from './engine/engine.ts'
import type { SourceFile } from './engine/mapped-records.ts'
import { makeRefusal, SourceRefusal } from './engine/source-refusal.ts'
import {
  type ProposedFileMember,
  proposeColumnMembers,
  proposeComparisons,
  proposeKey,
  proposePrimaryIdentifier,
  proposeWhere,
  type SampledTable,
} from './propose-part.ts'

/** The most rows of a table that are read as its sample. */
const MOST_SAMPLE_ROWS = 1_000
/**
 * The fewest points that a table must have to be proposed. It has one point for each path to which its columns may be mapped, and
 * two for the path of an identifier.
 */
const LEAST_TABLE_POINTS = 3
/**
 * The most points that a table gets for references from other tables, and the points for a name that contains the name of the
 * record type.
 */
const MOST_REFERENCE_POINTS = 3
const RECORD_TYPE_NAME_POINTS = 2
/** Names of key columns that many tables have, each with another meaning. */
const COMMON_KEY_NAMES = new Set(['id', 'no', 'nr', 'key', 'code', 'number', 'uuid', 'guid', 'rowid', 'oid', 'seq', 'pk'])

/** The proposed mapping of one record type. */
export interface ProposedRecordMapping {
  readonly recordType: RecordType
  readonly own: ProposedTable
  readonly children: readonly ProposedTable[]
  readonly compare: ReadonlyMap<string, ColumnComparisonName>
}

/** A table with the members that are proposed for it. */
export interface ProposedTable {
  readonly table: CatalogTable
  /** The query that stands for a table whose name cannot be written in the file; null: the name can be written. */
  readonly select: string | null
  /** The number of rows in the sample of the table. */
  readonly rows: number
  /** The members before `columns`: the key, or in a child the column with the key of its record; then `where`. */
  readonly head: readonly ProposedFileMember[]
  readonly columns: readonly ProposedFileMember[]
}

/**
 * Proposes the records of a source file.
 * @param tables names of tables, by the name of the record type. For other record types, the names of columns decide
 * @throws SourceRefusal no table, or several, may have the records; there is no table or record type of a given name; or the
 * database cannot be read
 */
export async function proposeSource(
  kind: Kind,
  file: Pick<SourceFile, 'url'>,
  engine: OpenEngine,
  tables: ReadonlyMap<string, string>,
): Promise<readonly ProposedRecordMapping[]> {
  try {
    const catalog = await engine.catalog()
    const chosen = chooseTables(kind, catalog, tables)
    const records: ProposedRecordMapping[] = []
    for (const [recordType, own] of chosen) {
      const others = catalog.filter((table) => ![...chosen.values()].includes(table))
      records.push(await proposeRecordMapping(kind, recordType, own, others, engine))
    }
    return records
  } catch (error) {
    throw makeDatabaseFailureRefusal(error, file, engine)
  }
}

const fullTableName = ({ schema, name }: Pick<CatalogTable, 'schema' | 'name'>): string => `${schema}.${name}`

/** Chooses for each record type the table named for it, or else the one that `findBestTable` finds. @throws SourceRefusal */
function chooseTables(
  kind: Kind,
  catalog: readonly CatalogTable[],
  named: ReadonlyMap<string, string>,
): ReadonlyMap<RecordType, CatalogTable> {
  const chosen = new Map<RecordType, CatalogTable>()
  for (const name of named.keys()) {
    const names = kind.record_types.map((type) => type.name)
    if (!names.includes(name)) {
      throw makeRefusal(['tables'], `${name} must be one of ${names.join(', ')}${nearestNameHint(name, names)}`)
    }
  }
  for (const recordType of kind.record_types) {
    const name = named.get(recordType.name)
    const free = catalog.filter((table) => ![...chosen.values()].includes(table))
    const table = name === undefined ? findBestTable(kind, recordType, free) : requireTableNamed(name, free)
    if (table !== null) chosen.set(recordType, table)
  }
  if (chosen.size > 0) return chosen
  const types = kind.record_types.map(({ name }) => name).join(' or ')
  throw new SourceRefusal(
    `no table that the account may read has columns with names of a ${types}; name its table with --table`,
    ['tables'],
  )
}

function requireTableNamed(given: string, catalog: readonly CatalogTable[]): CatalogTable {
  const found = catalog.filter((table) => fullTableName(table) === given || table.name === given)
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  const hint = nearestNameHint(given, catalog.map(fullTableName))
  const problem = found.length > 1 ? 'several schemas have it; name one of them' : `the account may read no such table${hint}`
  throw makeRefusal(['tables'], `${given}: ${problem}`)
}

/**
 * Finds the table with the most points for the record type; null: no table has `LEAST_TABLE_POINTS`.
 * @throws SourceRefusal two tables share the highest number of points
 */
function findBestTable(kind: Kind, recordType: RecordType, catalog: readonly CatalogTable[]): CatalogTable | null {
  const rated = catalog
    .map((table) => ({ table, points: rateTableColumns(kind, recordType, table) }))
    .filter(({ points }) => points >= LEAST_TABLE_POINTS)
    .map(({ table, points }) => ({ table, points: points + tableBonusPoints(recordType, table, catalog) }))
    .toSorted((one, other) => other.points - one.points)
  const [first, second] = rated
  if (first === undefined) return null
  if (second?.points !== first.points) return first.table
  throw makeRefusal(
    ['tables'],
    `${fullTableName(first.table)} and ${fullTableName(second.table)} may both have the records of ${recordType.name}; name one with --table`,
  )
}

/** Rates a table by its columns: one point for each path that their names may mean, or two for the path of an identifier type. */
function rateTableColumns(kind: Kind, recordType: RecordType, { name, columns }: CatalogTable): number {
  const header = columns.map((column) => column.name)
  const proposed = proposeColumns(kind, recordType, { header, rows: [] }, { name, taken: new Map(), lookups: new Map() })
  const paths = new Set(proposed.flatMap(({ choices }) => choices.map(({ path }) => path)))
  return [...paths].reduce((sum, path) => sum + (path.endsWith(']') ? 2 : 1), 0)
}

/** Rates a table by what is not in its columns: other tables refer to it, its name has the record type's name, it is no view. */
function tableBonusPoints({ name }: RecordType, table: CatalogTable, catalog: readonly CatalogTable[]): number {
  const count = catalog.filter(({ references }) => references.some((one) => isReferenceTo(one, table))).length
  const isNamed = makeComparableName(table.name).includes(makeComparableName(name))
  return Math.min(MOST_REFERENCE_POINTS, count) + (isNamed ? RECORD_TYPE_NAME_POINTS : 0) - (table.isView ? 1 : 0)
}

const isReferenceTo = ({ to }: CatalogTable['references'][number], { schema, name }: CatalogTable): boolean =>
  to.schema === schema && to.table === name

/** The form of names that `from` of a source file can have. */
const PLAIN_NAME_PATTERN = /^[A-Za-z_][\w$]*$/

/** Makes the `select` of a table whose name `from` cannot have; null: `from` can. */
const findSelectSql = ({ schema, name }: CatalogTable, { quoted }: OpenEngine): string | null =>
  PLAIN_NAME_PATTERN.test(schema) && PLAIN_NAME_PATTERN.test(name) ? null : `select * from ${quoted(schema)}.${quoted(name)}`

/** SQL types that are left out, because their values cannot become values of records. */
const UNREADABLE_TYPE_PATTERN = /^(?:bytea|jsonb?|xml|tsvector|point|polygon|geometry|geography|\w*blob|\w*binary)\b|\[\]$/

async function readTableSample(engine: OpenEngine, table: CatalogTable, others: readonly CatalogTable[]): Promise<SampledTable> {
  const header = table.columns.filter(({ type }) => !UNREADABLE_TYPE_PATTERN.test(type)).map(({ name }) => name)
  const lookups = await readLookupTables(engine, table, others)
  return { table, header, rows: await engine.sample(table, header, MOST_SAMPLE_ROWS), lookups, quoted: engine.quoted }
}

/** Reads the tables to whose keys columns refer, by column. @param others the catalog without the tables chosen for records */
async function readLookupTables(
  engine: OpenEngine,
  { references }: CatalogTable,
  others: readonly CatalogTable[],
): Promise<ReadonlyMap<string, LookupTable>> {
  const lookups = new Map<string, LookupTable>()
  for (const reference of references) {
    const table = others.find((one) => isReferenceTo(reference, one))
    if (table === undefined) continue
    const texts = table.rows > MOST_CODES ? null : await readLookupTexts(engine, table, reference.to.column)
    lookups.set(reference.column, { name: table.name, place: fullTableName(table), texts })
  }
  return lookups
}

/** Reads the texts in each row of a table, by the key of the row; null: the table has more than MOST_CODES rows. */
async function readLookupTexts(engine: OpenEngine, table: CatalogTable, key: string): Promise<LookupTable['texts']> {
  const texts = table.columns.filter(({ holds }) => holds === 'text').map(({ name }) => name)
  const rows = await engine.sample(table, [key, ...texts], MOST_CODES + 1)
  return rows.length > MOST_CODES ? null : new Map(rows.map(([first = '', ...cells]) => [first, cells]))
}

async function proposeRecordMapping(
  kind: Kind,
  recordType: RecordType,
  table: CatalogTable,
  others: readonly CatalogTable[],
  engine: OpenEngine,
): Promise<ProposedRecordMapping> {
  const taken = new Map<string, string>()
  const sampled = await readTableSample(engine, table, others)
  const key = proposeKey(sampled)
  const head = [key, proposeWhere(sampled)].filter((member) => member !== null)
  const columns = proposeColumnMembers(kind, recordType, sampled, taken)
  const children: ProposedTable[] = []
  for (const other of others) {
    const on = proposeChildKeyColumn(table, key, other)
    if (on === null || other.isView || rateTableColumns(kind, recordType, other) === 0) continue
    const rows = await readTableSample(engine, other, others)
    const members = proposeColumnMembers(kind, recordType, rows, taken, typeof on.value === 'string' ? on.value : null)
    const isUsed = members.some(({ isOptional }) => !isOptional)
    if (!isUsed) continue
    children.push({
      table: other,
      select: findSelectSql(other, engine),
      rows: rows.rows.length,
      head: [on, proposeWhere(rows)].filter((member) => member !== null),
      columns: members,
    })
  }
  const all = [...columns, ...children.flatMap((child) => child.columns)]
  const primary = proposePrimaryIdentifier(recordType, sampled, all)
  const own = {
    table,
    select: findSelectSql(table, engine),
    rows: sampled.rows.length,
    head,
    columns: primary === null ? columns : [primary, ...columns],
  }
  const parts = [own, ...children].map((part) => ({ table: part.table, members: part.columns }))
  return { recordType, own, children, compare: proposeComparisons(kind, recordType, parts) }
}

/** Finds the column of another table that has the key of a record; null: there is none. */
function proposeChildKeyColumn(own: CatalogTable, key: ProposedFileMember, other: CatalogTable): ProposedFileMember | null {
  const keys = key.value === null ? key.choices.map(({ value }) => value) : [key.value]
  const named = other.references.filter((one) => isReferenceTo(one, own) && keys.includes(one.to.column))
  const [foreign, ...more] = named
  const member = { name: 'on', choices: [], isOptional: false } as const
  if (foreign !== undefined && more.length === 0) {
    return { ...member, value: foreign.column, reasons: ['its foreign key names the record'] }
  }
  if (foreign !== undefined) {
    const choices = named.map(({ column }) => ({ value: column, meaning: 'a foreign key' }))
    return { ...member, value: null, choices, reasons: ['several foreign keys name a record, such as two spouses'] }
  }
  const [name] = keys
  if (typeof name !== 'string' || keys.length > 1 || COMMON_KEY_NAMES.has(makeComparableName(name))) return null
  const held = own.columns.find((column) => column.name === name)?.holds
  const same = other.columns.find((column) => column.name === name && column.holds === held)
  const isOther = other.references.some(({ column }) => column === name)
  if (same === undefined || isOther) return null
  return { ...member, value: name, reasons: ['it has the name of the key; no foreign key says so'] }
}
