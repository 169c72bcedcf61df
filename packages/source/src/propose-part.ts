/** Proposes how the rows of a table become records: the key, the condition on rows, and the columns. */

import type { LookupTable } from '@rollcall/import/propose-codes'
import { type DatabaseTable, makeComparableName, proposeColumns } from '@rollcall/import/propose-mapping'
import type { ProposedColumn, ProposedRule } from '@rollcall/import/proposed-column'
import { findRecordPath } from '@rollcall/import/record-paths'
import type { Attribute, Kind, RecordType } from '@rollcall/protocol'
import type { CatalogColumn, CatalogTable } from './engine/catalog.ts'
import type { ColumnComparisonName } from './engine/comparison-names.ts'

/** A member that is proposed for a source file. */
export interface ProposedFileMember {
  readonly name: string
  /** The proposed value; null: a person must decide between `choices`. */
  readonly value: ProposedRule | null
  readonly choices: readonly FileMemberChoice[]
  /** The reasons for the proposal, as sentences without values. */
  readonly reasons: readonly string[]
  /** True when the file works without the member, which is then a comment until a person decides. */
  readonly isOptional: boolean
}

interface FileMemberChoice {
  /** The name that the member gets in the file if a person takes this choice; absent: `ProposedFileMember.name`. */
  readonly name?: string
  readonly value: ProposedRule
  readonly meaning: string
}

/** A table with a sample of its rows. */
export interface SampledTable {
  readonly table: CatalogTable
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** The table to which a column refers, by the name of the column. */
  readonly lookups: ReadonlyMap<string, LookupTable>
  /** Quotes a name as SQL of the engine. */
  readonly quoted: (name: string) => string
}

const makeProposedFileMember = (name: string, value: ProposedRule, ...reasons: readonly string[]): ProposedFileMember => ({
  name,
  value,
  choices: [],
  reasons,
  isOptional: false,
})

const makeUndecidedFileMember = (
  name: string,
  choices: readonly FileMemberChoice[],
  ...reasons: readonly string[]
): ProposedFileMember => ({ name, value: null, choices, reasons, isOptional: false })

/** The values of a column in the sample, without empty ones; a value may be there twice. */
const sampledColumnValues = ({ header, rows }: SampledTable, column: string): readonly string[] => {
  const at = header.indexOf(column)
  return at < 0 ? [] : rows.flatMap((row) => row[at]?.trim() || [])
}

/** Proposes the column with the key of a row, or leaves it undecided with the columns that may have it. */
export function proposeKey(sampled: SampledTable): ProposedFileMember {
  const { columns, key } = sampled.table
  const usable = columns.filter(({ isKey }) => isKey)
  if (key !== null && usable.some(({ name }) => name === key)) return makeProposedFileMember('key', key, 'it is the primary key')
  const single = usable.filter(({ isUnique }) => isUnique).map(({ name }) => name)
  const [only] = single
  if (only !== undefined && single.length === 1) return makeProposedFileMember('key', only, 'each row has another one')
  const { rows } = sampled
  const names = usable.map(({ name }) => name)
  const differing = names.filter((name) => new Set(sampledColumnValues(sampled, name)).size === rows.length && rows.length > 0)
  const candidates = single.length > 0 ? single : differing
  const meaning = single.length > 0 ? 'each row has another one' : 'each row that was read has another one'
  return makeUndecidedFileMember(
    'key',
    candidates.map((value) => ({ value, meaning })),
    'the table has no primary key of one column; a key never changes, and no two rows have the same',
  )
}

const WORDS_FOR_REMOVED = [
  ...['removed', 'deleted', 'erased', 'annulled', 'cancelled', 'canceled', 'voided', 'archived', 'invalidated'],
  ...['removal', 'deletion', 'supprime', 'annule', 'eliminado', 'borrado', 'anulado', 'removido', 'excluido'],
]
const REMOVED_COLUMN_PATTERN = new RegExp(`^(?:is|was|date|time)?(?:${WORDS_FOR_REMOVED.join('|')})(?:at|on|date|time|flag)?$`)
const ACTIVE_COLUMN_PATTERN = /^(?:is)?(?:active|valid|current|enabled|actif|activo|vigente|ativo)(?:flag)?$/
/** Matches a value that may mean yes or no. */
const FLAG_VALUE_PATTERN = /^(?:[01ynjtfso]|yes|no|ja|nein|true|false|sim|si|oui|non)$/i

const sqlColumnName = ({ quoted }: SampledTable, name: string): string => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : quoted(name))

/** Proposes `where`, the condition on rows; null: no column suggests that some rows are to be left out. */
export function proposeWhere(sampled: SampledTable): ProposedFileMember | null {
  const { columns } = sampled.table
  const removing = columns.filter(({ name }) => REMOVED_COLUMN_PATTERN.test(makeComparableName(name)))
  const counting = columns.filter(({ name }) => ACTIVE_COLUMN_PATTERN.test(makeComparableName(name)))
  if (removing.length === 0 && counting.length === 0) return null
  const sure = removing.flatMap((column) => notRemovedClause(sampled, column) ?? [])
  const open = [...removing.filter((column) => notRemovedClause(sampled, column) === null), ...counting]
  const known = sure.join(' and ')
  const names = [...removing, ...counting].map(({ name }) => name).join(', ')
  const reason = `by ${names}, whose name says that some rows do not count`
  if (open.length === 0) return makeProposedFileMember('where', known, reason)
  const choices = open.flatMap((column) => flagClauses(sampled, column))
  return makeUndecidedFileMember(
    'where',
    [
      ...choices.map((value) => ({ value: known === '' ? value : `${known} and ${value}`, meaning: 'only these rows count' })),
      known === '' ? { value: 'true', meaning: 'every row counts' } : { value: known, meaning: 'every other row counts' },
    ],
    reason,
    'what its values mean is not known',
  )
}

/**
 * Makes the SQL condition that a column does not mark a row as removed; null: a person must write the condition, because the type
 * of the column does not tell which values mean removed.
 */
function notRemovedClause(sampled: SampledTable, { name, holds, isNullable }: CatalogColumn): string | null {
  const column = sqlColumnName(sampled, name)
  if (holds === 'boolean') return isNullable ? `${column} is not true` : `not ${column}`
  return isNullable && (holds === 'day' || holds === 'instant') ? `${column} is null` : null
}

/**
 * Makes the SQL conditions that a person may choose from: for each value in the sample that may mean yes or no; for a boolean
 * column, the column itself.
 */
function flagClauses(sampled: SampledTable, { name, holds }: CatalogColumn): readonly string[] {
  const column = sqlColumnName(sampled, name)
  if (holds === 'boolean') return [column]
  const distinct = [...new Set(sampledColumnValues(sampled, name))].filter((value) => FLAG_VALUE_PATTERN.test(value)).toSorted()
  return distinct.map((value) => `${column} = ${holds === 'integer' ? value : `'${value}'`}`)
}

/**
 * Proposes the members of `columns`.
 * @param taken the paths that are mapped already, each with its column. The function adds the paths of this table
 * @param on in a child, the column with the key of its record
 */
export function proposeColumnMembers(
  kind: Kind,
  recordType: RecordType,
  sampled: SampledTable,
  taken: DatabaseTable['taken'],
  on: string | null = null,
): readonly ProposedFileMember[] {
  const { table, header, rows, lookups } = sampled
  const shown = header.filter((name) => name !== on)
  const places = shown.map((name) => header.indexOf(name))
  const cells = { header: shown, rows: rows.map((row) => places.map((at) => row[at] ?? '')) }
  const columns = proposeColumns(kind, recordType, cells, { name: table.name, taken, lookups })
  const hasSeveral = on !== null && new Set(sampledColumnValues(sampled, on)).size < sampledColumnValues(sampled, on).length
  return columns.flatMap((column): ProposedFileMember[] => {
    const found = findMemberForColumn(column)
    if (found === null) return []
    const held = table.columns.find((one) => one.name === column.column)?.holds
    const isEmpty = sampledColumnValues(sampled, column.column).length === 0 && !lookups.has(column.column)
    const isKnown = isEmpty && !taken.has(found.name) && canMapWithoutValues(recordType, found.name, held)
    const member = isKnown ? makeProposedFileMember(found.name, column.column, ...found.reasons) : found
    if (!member.isOptional) {
      // A path may have only one column. So a later undecided member is optional, and becomes a comment.
      if (member.value === null && taken.has(member.name)) return [{ ...member, isOptional: true }]
      taken.set(member.name, column.column)
    }
    const isOfOne = findRecordPath(recordType, member.name.replace(/\[\w+\]$/, ''))?.list === false
    if (!hasSeveral || !isOfOne || member.value === null) return [member]
    const choice = { value: member.value, meaning: 'of several, the first in the order of the texts' }
    const reason = 'some records have several rows here, and a record has one such value; without a choice, remove the line'
    return [makeUndecidedFileMember(member.name, [choice], ...member.reasons, reason)]
  })
}

/** True when a mapping needs no values of the column: a text, an identifier, or a date in a column of days or times. */
function canMapWithoutValues(recordType: RecordType, path: string, holds: CatalogColumn['holds'] | undefined): boolean {
  const place = findRecordPath(recordType, path.replace(/\[\w+\]$/, ''))
  if (place === undefined) return false
  return place.attributes.every(({ type, codes }) => {
    if (codes !== undefined) return false
    return type === 'date' || type === 'datetime' ? holds === 'day' || holds === 'instant' : type === 'text'
  })
}

/** Proposes a member for a column; null: the meaning of the column is unknown. */
function findMemberForColumn({ column, state, path, rule, choices, reasons }: ProposedColumn): ProposedFileMember | null {
  const why = reasons.map((reason, at) => (at === 0 ? `${column}: ${reason}` : reason))
  if (state === 'mapped' && path !== null && rule !== null) return makeProposedFileMember(path, rule, ...why)
  const [first] = choices
  if (first === undefined) return null
  const values = choices.map((one) => ({ name: one.path, value: one.rule, meaning: one.meaning }))
  const isOnePath = choices.every((one) => one.path === first.path)
  // The attribute is clear, but not how its values are written.
  if (isOnePath && typeof first.rule !== 'string') return makeUndecidedFileMember(first.path, values, ...why)
  return { name: first.path, value: null, choices: values, reasons: why, isOptional: true }
}

/**
 * Proposes the member of `columns` for the primary identifier, with the columns from which a person must choose; null: `members`
 * already has that member, and not as an optional one.
 */
export function proposePrimaryIdentifier(
  recordType: RecordType,
  sampled: SampledTable,
  members: readonly ProposedFileMember[],
): ProposedFileMember | null {
  const { primary_identifier: type, name } = recordType
  const place = recordType.identifiers.find((one) => one.names === 'record' && one.type === type)?.path ?? 'identifier'
  const path = `${place}[${type}]`
  if (members.some((member) => member.name === path && !member.isOptional)) return null
  const { columns, key } = sampled.table
  const choices = columns
    .filter((column) => column.isKey && column.isUnique)
    // The key is the last choice: a row's key is seldom an identifier that people know.
    .toSorted((one, other) => Number(one.name === key) - Number(other.name === key))
    .map((column) => ({ value: column.name, meaning: 'each row has another one' }))
  return makeUndecidedFileMember(path, choices, `every ${name} is known by its ${type}, and no name of a column means it`)
}

/** Proposes how columns are compared, by attribute or identifier type. Identifiers are compared exactly by default. */
export function proposeComparisons(
  kind: Kind,
  recordType: RecordType,
  parts: readonly { readonly table: CatalogTable; readonly members: readonly ProposedFileMember[] }[],
): ReadonlyMap<string, ColumnComparisonName> {
  const compare = new Map<string, ColumnComparisonName>()
  for (const { table, members } of parts) {
    for (const { name, value, choices, isOptional } of members) {
      const rule = value ?? choices[0]?.value
      const place = findRecordPath(recordType, name)
      if (rule === undefined || isOptional || place === undefined) continue
      const column = table.columns.find((one) => one.name === (typeof rule === 'string' ? rule : rule.column))
      for (const attribute of place.attributes) {
        const way = findComparison(attribute, rule, column)
        if (way !== null) compare.set(attribute.name, way)
      }
      for (const type of place.types) {
        const isPhone = kind.identifier_types.some((one) => one.name === type && one.normaliser === 'phone')
        if (isPhone) compare.set(type, 'digits')
      }
    }
  }
  return compare
}

/** How a column is compared; null: its values can be shown, but no question can use it. */
function findComparison(
  { type, fold }: Attribute,
  rule: ProposedRule,
  column: CatalogColumn | undefined,
): ColumnComparisonName | null {
  switch (type) {
    case 'date':
    case 'datetime':
      return 'date'
    case 'number':
      return 'number'
    case 'code':
      return hasCodes(rule) ? 'code' : null
    case 'boolean':
      return hasCodes(rule) || column?.holds === 'boolean' ? 'code' : null
    case 'text':
      return fold === true ? 'folded' : 'exact'
    default:
      return null
  }
}

const hasCodes = (rule: ProposedRule): boolean => typeof rule === 'object' && 'codes' in rule
