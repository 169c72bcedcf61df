/**
 * Proposes a column mapping for a table, from the names of its columns and the form of their values. A person decides
 * what is ambiguous. No value goes into the proposal, except short lists of codes.
 */
import {
  type Attribute,
  codeLabel,
  isContact,
  type Kind,
  namesOf,
  normaliseCode,
  type RecordType,
  resolveIdentifierType,
} from '@rollcall/protocol'
import { UNDECIDED } from './column-mapping.ts'
import {
  AGE_COLUMNS,
  ATTRIBUTE_COLUMNS,
  CODE_WORDS,
  IDENTIFIER_COLUMNS,
  USUAL_CODES,
  WHOLE_NAMES,
} from './column-synonyms.ts'
import { exampleOf, formatsOfAll, formatsOfMost, readsAsWritten } from './find-date-format.ts'
import { type RecordPath, valuePaths } from './record-paths.ts'

/** The rule for a value, as a mapping has it. */
export type ProposedRule =
  | string
  | { readonly column: string; readonly format: string }
  | { readonly column: string; readonly codes: Readonly<Record<string, string>> }

export interface ProposedColumn {
  readonly column: string
  /** `mapped`: a person should review it. `decide`: a person must choose one of `choices`, or none. */
  readonly state: 'mapped' | 'decide' | 'unmapped'
  readonly path: string | null
  readonly rule: ProposedRule | null
  /** The possible meanings, in the state `decide`. */
  readonly choices: readonly { readonly path: string; readonly rule: ProposedRule; readonly meaning: string }[]
  /** The reasons of the proposal in sentences, without values. */
  readonly reasons: readonly string[]
}

export interface Table {
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A table of a database, as the database's catalog describes it. */
export interface DatabaseTable {
  /** The name of the table, which may complete the name of a column: `place` in the table `birth`. */
  readonly name: string
  /** The paths to which columns of other tables are mapped, with these columns. The paths of this table are added. */
  readonly taken: Map<string, string>
}

/** Proposes the meaning of each column. @param database null: the table is a file */
export function proposeColumns(
  kind: Kind,
  recordType: RecordType,
  table: Table,
  database: DatabaseTable | null = null,
): readonly ProposedColumn[] {
  const names = targetsByName(kind, recordType)
  const taken = database?.taken ?? new Map<string, string>()
  return table.header.map((given, at) => {
    const column = given.trim()
    const values = table.rows.flatMap((row) => row[at]?.trim() || [])
    if (table.header.filter((other) => other.trim() === column).length > 1) {
      return unmapped(column, ['several columns have this name; rename them in the header line'])
    }
    if (column === '') return unmapped(column, ['the column has no name; give it one in the header line'])
    const proposed = proposeColumn(names, column, values, database)
    const rival = proposed.path === null ? undefined : taken.get(proposed.path)
    if (proposed.path === null) return proposed
    if (rival === undefined) {
      taken.set(proposed.path, column)
      return proposed
    }
    const choice = { path: proposed.path, rule: proposed.rule ?? column, meaning: `instead of ${rival}` }
    return decide(column, [...proposed.reasons, `the column ${rival} goes there already`], [choice])
  })
}

interface NamedTarget {
  readonly path: string
  /** The attribute; undefined for an identifier. */
  readonly attribute?: Attribute
  readonly meaning: string
}

/** A name without case, accents and separators, for comparisons. */
export const plainName = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')

function targetsByName(kind: Kind, recordType: RecordType): ReadonlyMap<string, NamedTarget> {
  const targets = new Map<string, NamedTarget>()
  const add = (names: readonly string[], target: NamedTarget): void => {
    for (const name of names.map(plainName)) if (!targets.has(name)) targets.set(name, target)
  }
  const paths = valuePaths(recordType)
  for (const attribute of recordType.attributes) {
    const place = placeOf(paths, attribute)
    if (place === undefined) continue
    const target = { path: place.path, attribute, meaning: `the attribute ${attribute.name}` }
    add([...namesOf(attribute), ...(ATTRIBUTE_COLUMNS[attribute.name] ?? [])], target)
  }
  const own = recordType.identifiers.filter(
    ({ names, type }) => names === 'record' && type === recordType.primary_identifier,
  )
  const [source] = own
  for (const type of source === undefined ? [] : kind.identifier_types) {
    if (type.normaliser !== 'code') continue
    const target = { path: `${source?.path}[${type.name}]`, meaning: `the identifier type ${type.name}` }
    add([...namesOf(type), ...(IDENTIFIER_COLUMNS[type.name] ?? [])], target)
  }
  // Left out are identifiers, which are named by their type, and telephones and e-mail addresses, which are recognised
  // apart.
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
      const means = Object.hasOwn(ATTRIBUTE_COLUMNS, last) ? (ATTRIBUTE_COLUMNS[last] ?? []) : []
      add([place.path, last, ...means], target)
    }
  }
  return targets
}

/** The first path of an attribute at which a record may have a single value. */
const placeOf = (paths: readonly RecordPath[], { paths: own }: Attribute): RecordPath | undefined =>
  own.map((path) => paths.find((place) => place.path === path)).find((place) => place !== undefined)

function proposeColumn(
  names: ReadonlyMap<string, NamedTarget>,
  column: string,
  values: readonly string[],
  database: DatabaseTable | null,
): ProposedColumn {
  const name = plainName(column)
  const found = targetOf(names, name, database)
  if (values.length === 0) {
    const reasons = ['no row has a value in it']
    return found === undefined
      ? unmapped(column, reasons)
      : decide(column, reasons, [{ path: found.path, rule: column, meaning: found.meaning }])
  }
  const isCompleted = database !== null && names.has(plainName(database.name) + name)
  if (!isCompleted && WHOLE_NAMES.some((one) => plainName(one) === name)) {
    const given = names.get('givenname')
    const reason = 'it may hold whole names, and records have given name and surname apart; divide the column'
    return given === undefined ? unmapped(column, [reason]) : decide(column, [reason], choicesOf(names, column))
  }
  if (AGE_COLUMNS.some((one) => plainName(one) === name)) {
    return unmapped(column, ['an age changes every year: records have a date of birth, from which ages are counted'])
  }
  if (found === undefined) return byValues(names, column, values)
  const reasons = [`its name means ${found.meaning}`]
  const { attribute } = found
  if (attribute?.type === 'date' || attribute?.type === 'datetime') return dated(found, column, values, reasons)
  if (attribute?.codes !== undefined) {
    return coded(found, attribute.codes, column, values, { reasons, isDatabase: database !== null })
  }
  return { column, state: 'mapped', path: found.path, rule: column, choices: [], reasons }
}

/** Finds the meaning of a name: with the name of the table before it, as it is, or without the name of the table. */
function targetOf(
  names: ReadonlyMap<string, NamedTarget>,
  name: string,
  database: DatabaseTable | null,
): NamedTarget | undefined {
  if (database === null) return names.get(name)
  const table = plainName(database.name)
  const rest = name.startsWith(table) ? name.slice(table.length) : name
  const found = names.get(`${table}${name}`) ?? names.get(name) ?? names.get(rest)
  // The JSON-LD members `@id` and `@type` are not proposed: such columns are keys and types of rows.
  return found?.path.startsWith('@') ? undefined : found
}

const choicesOf = (names: ReadonlyMap<string, NamedTarget>, column: string) =>
  ['givenname', 'surname'].flatMap((name) => {
    const found = names.get(name)
    return found === undefined ? [] : [{ path: found.path, rule: column, meaning: found.meaning }]
  })

/** Proposes a meaning by the values. Only e-mail addresses and international telephone numbers can be recognised. */
function byValues(names: ReadonlyMap<string, NamedTarget>, column: string, values: readonly string[]): ProposedColumn {
  const unknown = 'nothing in the records has this name'
  const email = names.get('email')
  if (email !== undefined && values.every((value) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(value))) {
    const reasons = [unknown, 'all its values are e-mail addresses']
    return { column, state: 'mapped', path: email.path, rule: column, choices: [], reasons }
  }
  const phone = names.get('phonenumber')
  if (phone !== undefined && values.every((value) => /^\+[\d ()./-]{6,20}$/.test(value))) {
    const reasons = [unknown, 'all its values look like telephone numbers with the code of a country']
    return decide(column, reasons, [{ path: phone.path, rule: column, meaning: 'telephone numbers' }])
  }
  const isDated = readsAsWritten(values) || formatsOfAll(values).length > 0
  return unmapped(column, isDated ? [unknown, 'all its values are dates, and their meaning is not known'] : [unknown])
}

function dated(
  { path }: NamedTarget,
  column: string,
  values: readonly string[],
  reasons: readonly string[],
): ProposedColumn {
  if (readsAsWritten(values)) {
    const why = [...reasons, 'all its values are dates that need no format']
    return { column, state: 'mapped', path, rule: column, choices: [], reasons: why }
  }
  const formats = formatsOfAll(values)
  const choices = formats.map((format) => ({
    path,
    rule: { column, format },
    meaning: `dates such as ${exampleOf(format)}`,
  }))
  const [only] = choices
  if (choices.length === 1 && only !== undefined) {
    const why = [...reasons, `every value can be read as ${formats[0]}, and in no other order of day and month`]
    return { column, state: 'mapped', path, rule: only.rule, choices: [], reasons: why }
  }
  if (choices.length > 1) {
    return decide(
      column,
      [...reasons, 'every value can be read as day and month in either order: ask who made the data'],
      choices,
    )
  }
  const short = values.some((value) => /^\d{1,2}[-/. ](\d{1,2}|[A-Za-z]{3})[-/. ]\d{2}$/.test(value))
  const why = short
    ? 'some years have two digits, and their century is not known: give years of four digits'
    : 'no known form of dates reads every value: correct the values, or name the format of most of them'
  const { formats: best, most } = formatsOfMost(values)
  return decide(
    column,
    [...reasons, why],
    best.map((format) => ({
      path,
      rule: format === null ? column : { column, format },
      meaning: `reads ${most} of ${values.length} values; the others are refused`,
    })),
  )
}

/** The most values of a list of codes, and the most characters of a code. */
const MOST_CODES = 20
const LONGEST_CODE = 20
/** In a database, a value is shown as a code only if so many rows have it: a rare one may identify a person. */
const ROWS_OF_A_CODE = 3
/** Digits alone, which may be a date or the number of a person. */
const DIGITS = /\d{5,}/

function coded(
  { path }: NamedTarget,
  list: NonNullable<Attribute['codes']>,
  column: string,
  values: readonly string[],
  { reasons, isDatabase }: { readonly reasons: readonly string[]; readonly isDatabase: boolean },
): ProposedColumn {
  const distinct = [...new Set(values)].toSorted()
  const isKnown = (value: string): boolean => codeLabel(list, normaliseCode(list, value) ?? '') !== undefined
  if (distinct.every(isKnown)) {
    const why = [...reasons, `all its values are on the list ${list}`]
    if (isDatabase) {
      // A live source cannot search by a code that has no listed value.
      const codes = Object.fromEntries(distinct.map((value) => [value, canonical(list, value)]))
      return { column, state: 'mapped', path, rule: { column, codes }, choices: [], reasons: why }
    }
    return { column, state: 'mapped', path, rule: column, choices: [], reasons: why }
  }
  if (distinct.length > MOST_CODES || distinct.some((value) => value.length > LONGEST_CODE)) {
    return decide(
      column,
      [...reasons, `some values are not on the list ${list}, and they are too many or too long to be codes`],
      [{ path, rule: column, meaning: 'values that are not on the list stay as they are' }],
    )
  }
  const words = CODE_WORDS[list] ?? {}
  const inWords = (value: string): string | undefined => (isKnown(value) ? value : words[value.toLowerCase()])
  const isCode = (value: string): boolean =>
    inWords(value) !== undefined ||
    USUAL_CODES[list]?.codes[value] !== undefined ||
    (!DIGITS.test(value) && values.filter((one) => one === value).length >= ROWS_OF_A_CODE)
  if (isDatabase && !distinct.every(isCode)) {
    return decide(
      column,
      [...reasons, `some values are not on the list ${list}, and they are too rare to be shown as codes`],
      [
        {
          path,
          rule: { column, codes: { [UNDECIDED]: UNDECIDED } },
          meaning: 'list the codes of the column, and what each means',
        },
      ],
    )
  }
  if (distinct.every((value) => inWords(value) !== undefined)) {
    const codes = Object.fromEntries(distinct.map((value) => [value, canonical(list, inWords(value) ?? value)]))
    const why = [...reasons, `its values are words for codes of the list ${list}`]
    return { column, state: 'mapped', path, rule: { column, codes }, choices: [], reasons: why }
  }
  const usual = USUAL_CODES[list]
  const meant = (value: string): string => usual?.codes[value] ?? inWords(value) ?? UNDECIDED
  const codes = Object.fromEntries(distinct.map((value) => [value, canonical(list, meant(value))]))
  const meaning =
    usual !== undefined && distinct.every((value) => usual.codes[value] !== undefined)
      ? `as ${usual.source} has them; ask who made the data`
      : `write what each means in place of ${UNDECIDED}`
  return decide(
    column,
    [...reasons, `some of its values are not on the list ${list}`],
    [{ path, rule: { column, codes }, meaning }],
  )
}

const canonical = (list: NonNullable<Attribute['codes']>, value: string): string =>
  value === UNDECIDED ? value : (normaliseCode(list, value) ?? value)

const unmapped = (column: string, reasons: readonly string[]): ProposedColumn => ({
  column,
  state: 'unmapped',
  path: null,
  rule: null,
  choices: [],
  reasons,
})

const decide = (column: string, reasons: readonly string[], choices: ProposedColumn['choices']): ProposedColumn => ({
  column,
  state: 'decide',
  path: null,
  rule: null,
  choices,
  reasons,
})
