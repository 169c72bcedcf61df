/**
 * Proposes a column mapping for a table, from the names of its columns and the form of their values. A person decides
 * what is ambiguous. No value goes into the proposal, except short lists of codes.
 */
import { type Attribute, isContact, type Kind, namesOf, type RecordType, resolveIdentifierType } from '@rollcall/protocol'
import { AGE_COLUMNS, ATTRIBUTE_COLUMN_NAMES, IDENTIFIER_COLUMN_NAMES, WHOLE_NAME_COLUMNS } from './column-synonyms.ts'
import { areIsoDates, dateFormatsReadingAll, dateFormatsReadingMost, exampleDate } from './find-date-format.ts'
import { type LookupTable, proposeCodes, proposeLookupCodes } from './propose-codes.ts'
import { type ProposedColumn, proposeColumnChoices, proposeMappedColumn, proposeUnmapped } from './proposed-column.ts'
import { listValuePaths, type RecordPath } from './record-paths.ts'

export interface HeaderAndRows {
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A table of a database, as the database's catalog describes it. */
export interface DatabaseTable {
  /** The name of the table, which may complete the name of a column: `place` in the table `birth` can mean `birthplace`. */
  readonly name: string
  /** The column of another table that is mapped to each path. `proposeColumns` adds the columns of this table. */
  readonly taken: Map<string, string>
  /** The tables to whose keys columns refer, by the names of these columns. */
  readonly lookups: ReadonlyMap<string, LookupTable>
}

/** Proposes the meaning of each column. @param database null: the table is a file */
export function proposeColumns(
  kind: Kind,
  recordType: RecordType,
  table: HeaderAndRows,
  database: DatabaseTable | null = null,
): readonly ProposedColumn[] {
  const names = targetsByName(kind, recordType)
  const taken = database?.taken ?? new Map<string, string>()
  const sameNames = Map.groupBy(table.header, (name) => name.trim())
  return table.header.map((given, at) => {
    const column = given.trim()
    const values = table.rows.flatMap((row) => row[at]?.trim() || [])
    if ((sameNames.get(column)?.length ?? 0) > 1) {
      return proposeUnmapped(column, ['several columns have this name; rename them in the header line'])
    }
    if (column === '') return proposeUnmapped(column, ['the column has no name; give it one in the header line'])
    const proposed = proposeColumn(names, column, values, database)
    const rival = proposed.path === null ? undefined : taken.get(proposed.path)
    if (proposed.path === null) return proposed
    if (rival === undefined) {
      taken.set(proposed.path, column)
      return proposed
    }
    const choice = { path: proposed.path, rule: proposed.rule ?? column, meaning: `instead of ${rival}` }
    return proposeColumnChoices(column, [...proposed.reasons, `the column ${rival} goes there already`], [choice])
  })
}

/** A path of the record that the name of a column can mean. */
interface ProposedTarget {
  readonly path: string
  /** The attribute; undefined for an identifier. */
  readonly attribute?: Attribute
  readonly meaning: string
}

/** A name without case, accents and separators, for comparisons. */
export const makeComparableName = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')

/** The other names that columns of an attribute may have. `Object.hasOwn`: an operator may name an attribute `constructor`. */
const columnNamesOf = (name: string): readonly string[] =>
  Object.hasOwn(ATTRIBUTE_COLUMN_NAMES, name) ? (ATTRIBUTE_COLUMN_NAMES[name] ?? []) : []

function targetsByName(kind: Kind, recordType: RecordType): ReadonlyMap<string, ProposedTarget> {
  const targets = new Map<string, ProposedTarget>()
  const add = (names: readonly string[], target: ProposedTarget): void => {
    for (const name of names.map(makeComparableName)) if (!targets.has(name)) targets.set(name, target)
  }
  const paths = listValuePaths(recordType)
  for (const attribute of recordType.attributes) {
    const place = findAttributePath(paths, attribute)
    if (place === undefined) continue
    const target = { path: place.path, attribute, meaning: `the attribute ${attribute.name}` }
    add([...namesOf(attribute), ...columnNamesOf(attribute.name)], target)
  }
  const own = recordType.identifiers.filter(({ names, type }) => names === 'record' && type === recordType.primary_identifier)
  const [source] = own
  for (const type of source === undefined ? [] : kind.identifier_types) {
    if (type.normaliser !== 'code') continue
    const target = { path: `${source?.path}[${type.name}]`, meaning: `the identifier type ${type.name}` }
    add([...namesOf(type), ...(IDENTIFIER_COLUMN_NAMES[type.name] ?? [])], target)
  }
  // The names of identifier types were added above, so paths that have only identifiers are left out below. The types for
  // telephone numbers and e-mail addresses were not added above, so their paths are added below.
  const isContactAt = (path: string): boolean =>
    recordType.identifiers.some(({ path: own, type }) => {
      const found = type === undefined ? undefined : resolveIdentifierType(kind, type)
      return own === path && found !== undefined && isContact(found)
    })
  for (const place of paths) {
    const last = place.path.slice(place.path.lastIndexOf('.') + 1)
    const [attribute] = place.attributes
    const target = { path: place.path, ...(attribute && { attribute }), meaning: `the member ${place.path}` }
    if (!place.identifier || place.attributes.length > 0 || isContactAt(place.path)) {
      add([place.path, last, ...columnNamesOf(last)], target)
    }
  }
  return targets
}

/**
 * Finds the first path of an attribute that is in `paths`; undefined when none is. An attribute may have a path in several
 * spellings, and `paths` has only one of them.
 */
const findAttributePath = (paths: readonly RecordPath[], { paths: own }: Attribute): RecordPath | undefined =>
  own.map((path) => paths.find((place) => place.path === path)).find((place) => place !== undefined)

function proposeColumn(
  names: ReadonlyMap<string, ProposedTarget>,
  column: string,
  values: readonly string[],
  database: DatabaseTable | null,
): ProposedColumn {
  const name = makeComparableName(column)
  const lookup = database?.lookups.get(column)
  const found = findTargetOfName(names, name, database) ?? (lookup && findLookupTarget(names, name, lookup, database))
  const reasons = found === undefined ? [] : [`its name means ${found.meaning}`]
  if (lookup !== undefined && found?.attribute !== undefined) {
    const { path, attribute } = found
    if (attribute.codes !== undefined) {
      return proposeLookupCodes({ column, path, list: attribute.codes, values, reasons }, lookup)
    }
    const why = `its values are keys of ${lookup.place}: a select that joins that table has what they mean`
    return proposeColumnChoices(column, [...reasons, why], [{ path, rule: column, meaning: 'the keys themselves' }])
  }
  if (values.length === 0) {
    const why = ['no row has a value in it']
    return found === undefined
      ? proposeUnmapped(column, why)
      : proposeColumnChoices(column, why, [{ path: found.path, rule: column, meaning: found.meaning }])
  }
  const isCompleted = database !== null && names.has(makeComparableName(database.name) + name)
  if (!isCompleted && WHOLE_NAME_COLUMNS.some((one) => makeComparableName(one) === name)) {
    const given = names.get('givenname')
    const reason = 'it may hold whole names, and records have given name and surname apart; divide the column'
    return given === undefined
      ? proposeUnmapped(column, [reason])
      : proposeColumnChoices(column, [reason], listPersonNamePathChoices(names, column))
  }
  if (AGE_COLUMNS.some((one) => makeComparableName(one) === name)) {
    return proposeUnmapped(column, ['an age changes every year: records have a date of birth, from which ages are counted'])
  }
  if (found === undefined) return proposeColumnByValues(names, column, values)
  const { attribute, path } = found
  if (attribute?.type === 'date' || attribute?.type === 'datetime') return proposeDateColumn(found, column, values, reasons)
  if (attribute?.codes === undefined) return proposeMappedColumn(column, path, column, reasons)
  return proposeCodes({ column, path, list: attribute.codes, values, reasons }, database !== null)
}

/** Matches the end of the name of a column that has keys. */
const KEY_NAME_END_PATTERN = /(?:id|code|no|nr|key|fk)$/
/** Matches what the names of lookup tables have before or after the name of the attribute. */
const LOOKUP_TABLE_AFFIX_PATTERN = /^(?:ref|lookup|lkp|lk|code)|(?:codes?|types?|lookup|ref)$/g

/** Finds the attribute for the name of a column without an end such as `id`, or else for the name of its lookup table. */
function findLookupTarget(
  names: ReadonlyMap<string, ProposedTarget>,
  column: string,
  { name }: LookupTable,
  database: DatabaseTable | null,
): ProposedTarget | undefined {
  const table = makeComparableName(name)
  return [column.replace(KEY_NAME_END_PATTERN, ''), table, table.replaceAll(LOOKUP_TABLE_AFFIX_PATTERN, '')]
    .map((one) => findTargetOfName(names, one, database))
    .find((one) => one?.attribute !== undefined)
}

/**
 * Finds the target of a column's name. In a database, looks for three names: the column's name after the table's name, the
 * column's name, and the column's name without the table's name.
 */
function findTargetOfName(
  names: ReadonlyMap<string, ProposedTarget>,
  name: string,
  database: DatabaseTable | null,
): ProposedTarget | undefined {
  if (database === null) return names.get(name)
  const table = makeComparableName(database.name)
  const rest = name.startsWith(table) ? name.slice(table.length) : name
  const found = names.get(`${table}${name}`) ?? names.get(name) ?? names.get(rest)
  // In a database, columns `id` and `type` have keys and types of rows, so `@id` and `@type` are not proposed.
  return found?.path.startsWith('@') ? undefined : found
}

/** The choices for a column with whole names of persons: the path of the given name, and that of the surname. */
const listPersonNamePathChoices = (names: ReadonlyMap<string, ProposedTarget>, column: string) =>
  ['givenname', 'surname'].flatMap((name) => {
    const found = names.get(name)
    return found === undefined ? [] : [{ path: found.path, rule: column, meaning: found.meaning }]
  })

/** Proposes a meaning by the values. Only e-mail addresses and international telephone numbers can be recognised. */
function proposeColumnByValues(
  names: ReadonlyMap<string, ProposedTarget>,
  column: string,
  values: readonly string[],
): ProposedColumn {
  const unknown = 'nothing in the records has this name'
  const email = names.get('email')
  if (email !== undefined && values.every((value) => /^[^@\s]+@[^@\s][^@\s.]*\.[^@\s]+$/.test(value))) {
    const reasons = [unknown, 'all its values are e-mail addresses']
    return proposeMappedColumn(column, email.path, column, reasons)
  }
  const phone = names.get('phonenumber')
  if (phone !== undefined && values.every((value) => /^\+[\d ()./-]{6,20}$/.test(value))) {
    const reasons = [unknown, 'all its values look like telephone numbers with the code of a country']
    return proposeColumnChoices(column, reasons, [{ path: phone.path, rule: column, meaning: 'telephone numbers' }])
  }
  const isDated = areIsoDates(values) || dateFormatsReadingAll(values).length > 0
  return proposeUnmapped(column, isDated ? [unknown, 'all its values are dates, and their meaning is not known'] : [unknown])
}

function proposeDateColumn(
  { path }: ProposedTarget,
  column: string,
  values: readonly string[],
  reasons: readonly string[],
): ProposedColumn {
  if (areIsoDates(values)) {
    const why = [...reasons, 'all its values are dates that need no format']
    return proposeMappedColumn(column, path, column, why)
  }
  const formats = dateFormatsReadingAll(values)
  const choices = formats.map((format) => ({ path, rule: { column, format }, meaning: `dates such as ${exampleDate(format)}` }))
  const [only] = choices
  if (choices.length === 1 && only !== undefined) {
    const why = [...reasons, `every value can be read as ${formats[0]}, and in no other order of day and month`]
    return proposeMappedColumn(column, path, only.rule, why)
  }
  if (choices.length > 1) {
    return proposeColumnChoices(
      column,
      [...reasons, 'every value can be read as day and month in either order: ask who made the data'],
      choices,
    )
  }
  const short = values.some((value) => /^\d{1,2}[-/. ](\d{1,2}|[A-Za-z]{3})[-/. ]\d{2}$/.test(value))
  const why = short
    ? 'some years have two digits, and their century is not known: give years of four digits'
    : 'no known form of dates reads every value: correct the values, or name the format of most of them'
  const { formats: best, most } = dateFormatsReadingMost(values)
  return proposeColumnChoices(
    column,
    [...reasons, why],
    best.map((format) => ({
      path,
      rule: format === null ? column : { column, format },
      meaning: `reads ${most} of ${values.length} values; the others are refused`,
    })),
  )
}
