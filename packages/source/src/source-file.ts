/** Reads a source file: where the records of a registry are, and how rows become records (docs/sources.md). */

import { nearestNameHint } from '@rollcall/base/shared/message-words'
import { type ColumnMapping, type MappingTarget, readColumnMapping, UNDECIDED_MARK } from '@rollcall/import/column-mapping'
import { refuseMappingWithoutPrimary } from '@rollcall/import/identified'
import { findRecordPath } from '@rollcall/import/record-paths'
import { createRowReader } from '@rollcall/import/row-documents'
import { ImportError } from '@rollcall/import/source'
import {
  isTimeZone,
  type Kind,
  namesOf,
  type PathStep,
  type RecordType,
  resolveIdentifierType,
  validator,
} from '@rollcall/protocol'
import { COLUMN_COMPARISON_RULES, type ComparisonSubject } from './comparisons.ts'
import type { ColumnComparisonName } from './engine/comparison-names.ts'
import { checkEngine, type EngineName } from './engine/engine-names.ts'
import { FOLLOW_WAYS_BY_ENGINE, type FollowWay } from './engine/follow-ways.ts'
import {
  attributesExceptAges,
  type LoggedTable,
  type MappedTable,
  type MirrorSettings,
  type RecordMapping,
  type SourceFile,
} from './engine/mapped-records.ts'
import { makeRefusal, SourceRefusal } from './engine/source-refusal.ts'
import { type GivenChild, type GivenRecordMapping, type GivenSourceFile, SourceFileSchema } from './file-schema.ts'

const sourceFileValidator = validator<GivenSourceFile>(SourceFileSchema)
const TABLE_NAME_PATTERN = /^(?:([A-Za-z_][\w$]*)\.)?([A-Za-z_][\w$]*)$/
/** The size of the longest name of a column in each engine. PostgreSQL cuts a longer name; MariaDB and MySQL refuse it. */
const LONGEST_NAMES: Readonly<Record<EngineName, { readonly size: number; readonly unit: 'bytes' | 'characters' }>> = {
  postgresql: { size: 63, unit: 'bytes' },
  mariadb: { size: 64, unit: 'characters' },
  mysql: { size: 64, unit: 'characters' },
}

/**
 * Reads and checks a source file.
 * @param kind the kind of the registry, with the operator's additions
 * @throws SourceRefusal names the member and the rule
 */
export function readSourceFile(given: unknown, kind: Kind): SourceFile {
  const file = readSourceWithoutRecords(given)
  const records = new Map<string, RecordMapping>()
  // The cast is safe: `readSourceWithoutRecords` has checked the file against its schema.
  for (const [name, one] of Object.entries((given as GivenSourceFile).records)) {
    const recordType = kind.record_types.find((type) => type.name === name)
    if (recordType === undefined) {
      const names = kind.record_types.map((type) => type.name)
      throw makeRefusal(['records', name], `must be one of ${names.join(', ')}${nearestNameHint(name, names)}`)
    }
    const read = readRecordMapping(kind, recordType, one, ['records', name])
    refuseLongNames(file.engine, read)
    checkRecordsForFollowWay(file.mirror, read, one)
    records.set(name, read)
  }
  return { ...file, records }
}

/** Reads all but `records`, which stay empty: a former file may name there what its kind has lost. @throws SourceRefusal */
export function readSourceWithoutRecords(given: unknown): SourceFile {
  if (typeof given === 'object' && given !== null) refuseAddressInFile(given)
  const problem = sourceFileValidator.firstProblem(given)
  if (problem !== null) {
    const hint = nearestNameHint(String(problem.at.at(-1)), problem.known ?? [])
    throw makeRefusal(problem.at, `${problem.rule}${hint}`)
  }
  refuseUndecided(given, [])
  const file = given as GivenSourceFile
  const engine = checkEngine(file.engine)
  const mirror = readMirror(file, engine)
  if (file.time_zone !== undefined && !isTimeZone(file.time_zone)) {
    throw makeRefusal(['time_zone'], 'must be the IANA name of a time zone, such as Africa/Nairobi')
  }
  return {
    engine,
    url: file.url,
    ca: file.tls?.ca ?? null,
    pool: file.pool ?? 8,
    statementTimeout: Math.round((file.statement_timeout ?? 2) * 1_000),
    candidates: file.candidates ?? 10_000,
    timeZone: file.time_zone ?? 'UTC',
    mirror,
    records: new Map(),
  }
}

const LIVE_OR_MIRROR_VALUES = ['live', 'mirror'] as const
/** For messages, by the way of following: how the file must name a logged table. In MariaDB (`binlog`) it may have no schema. */
const TABLE_ADVICE = {
  logical:
    'with its schema in from, such as office.person: with follow: logical the log tells of tables; or name in tables those that it reads',
  binlog: 'in from, such as person: with follow: binlog the log tells of tables',
}
/** The ways of following that have settings. The settings are in the member of the file that has the name of the way. */
const WAYS_WITH_SETTINGS = ['logical', 'poll'] as const satisfies readonly FollowWay[]

/** Reads how records are copied. @returns null: they are read live */
function readMirror(file: GivenSourceFile, engine: EngineName): MirrorSettings | null {
  const { way, follow, events = 'changes', compare = '03:00', poll = {}, logical = {} } = file
  if (way !== 'live' && way !== 'mirror') {
    throw makeRefusal(['way'], `must be ${LIVE_OR_MIRROR_VALUES.join(' or ')}${nearestNameHint(way, LIVE_OR_MIRROR_VALUES)}`)
  }
  if (way === 'live') {
    for (const name of ['follow', 'events', 'compare', ...WAYS_WITH_SETTINGS] as const) {
      if (file[name] !== undefined) throw makeRefusal([name], 'is for a mirror; here way is live, and nothing is copied')
    }
    return null
  }
  const ways = FOLLOW_WAYS_BY_ENGINE[engine]
  if (ways.length === 0) throw makeRefusal(['way'], `must be live: a mirror does not follow ${engine} yet`)
  const found = ways.find((name) => name === follow)
  if (found === undefined) {
    throw makeRefusal(['follow'], `must be ${ways.join(' or ')}${nearestNameHint(follow ?? '', ways)}`)
  }
  const other = WAYS_WITH_SETTINGS.find((name) => name !== found && file[name] !== undefined)
  if (other !== undefined) throw makeRefusal([other], `is for follow: ${other}`)
  const { every = 1, overlap = 60 } = poll
  const { publication = 'rollcall', most_log = 1_024 } = logical
  const terms = { events: events === 'changes', every: every * 1_000, overlap, compareAt: compare }
  return { follow: found, ...terms, publication, mostLog: most_log * 1_048_576 }
}

/** Checks that records have what the way of following needs, and nothing of another way. @throws SourceRefusal */
function checkRecordsForFollowWay(mirror: MirrorSettings | null, records: RecordMapping, given: GivenRecordMapping): void {
  const path = ['records', records.recordType.name]
  const { follow } = mirror ?? {}
  for (const [index, { tables }] of [given, ...(given.children ?? [])].entries()) {
    if (tables === undefined || follow === 'logical') continue
    throw makeRefusal([...partPath(path, index), 'tables'], 'is for a mirror with follow: logical')
  }
  if (follow === 'poll') {
    if (records.own.changed !== null) return
    throw makeRefusal([...path, 'changed'], 'is missing: with follow: poll it names the column that grows with every change')
  }
  for (const [index, { changed, from, logged }] of [records.own, ...records.children].entries()) {
    const at = partPath(path, index)
    if (changed !== null) throw makeRefusal([...at, 'changed'], 'is for a mirror with follow: poll')
    const isNamed = logged.length > 0 && (follow === 'binlog' || logged.every(({ schema }) => schema !== null))
    if (follow === undefined || isNamed) continue
    const place = 'select' in from ? 'select' : 'from'
    throw makeRefusal([...at, place], `must be a table ${TABLE_ADVICE[follow]}, or write follow: poll`)
  }
}

/** Refuses a text that cannot be the name of a column in the engine. @throws SourceRefusal */
function refuseLongNames(engine: EngineName, { recordType, own, children }: RecordMapping): void {
  const { size, unit } = LONGEST_NAMES[engine]
  for (const [index, { key, columns, changed }] of [own, ...children].entries()) {
    for (const name of [key, ...columns, changed ?? '']) {
      const length = unit === 'bytes' ? Buffer.byteLength(name) : name.length
      if (length <= size && !name.includes('\0')) continue
      const at = partPath(['records', recordType.name], index)
      throw makeRefusal(at, `${JSON.stringify(name)} is no name of a column: it has more than ${size} ${unit}`)
    }
  }
}

/** The path of a part of the records. @param index 0: their own table; n: their child n */
const partPath = (path: readonly PathStep[], index: number): readonly PathStep[] =>
  index === 0 ? path : [...path, 'children', index - 1]

/** Refuses an address in `url` before anything else, so that no other message quotes its password. */
function refuseAddressInFile(given: object): void {
  if (!('url' in given) || typeof given.url !== 'string') return
  throw makeRefusal(
    ['url'],
    'must not be the address itself, which has a password: write { env: NAME } or { file: PATH }, which say where it is',
  )
}

/**
 * Refuses a value that a person must still decide: a proposal has `UNDECIDED_MARK` there. Only `split`, the separator of values
 * in a cell, may be that character.
 */
function refuseUndecided(given: unknown, at: readonly PathStep[]): void {
  if (given === UNDECIDED_MARK && at.at(-1) !== 'split') {
    throw makeRefusal(at, `stands for "${UNDECIDED_MARK}"; decide it, by one of the lines that the proposal has below it`)
  }
  if (typeof given !== 'object' || given === null) return
  for (const [name, value] of Object.entries(given)) {
    refuseUndecided(value, [...at, Array.isArray(given) ? Number(name) : name])
  }
}

function readRecordMapping(
  kind: Kind,
  recordType: RecordType,
  { compare = {}, children = [], key, ...own }: GivenRecordMapping,
  at: readonly PathStep[],
): RecordMapping {
  const records = { kind, recordTypes: [recordType] }
  const mappings = [own, ...children].map((part, index) =>
    readColumns(part.columns, records, [...partPath(at, index), 'columns']),
  )
  const targets = mappings.flatMap((mapping) => mapping.targets)
  refuseDuplicatePaths(mappings, at)
  try {
    refuseMappingWithoutPrimary({ targets, duplicates: null }, records)
  } catch (error) {
    throw asSourceRefusal(error, [...at, 'columns'])
  }
  const [first, ...others] = mappings
  if (first === undefined) throw new Error('unreachable: the records have columns of their own')
  return {
    recordType,
    own: readPart(own, key, first, at),
    children: children.map((child, index) => readPart(child, child.on, others[index] ?? first, partPath(at, index + 1))),
    lists: new Set(
      others.flatMap(({ targets: some }) => some.map(targetPath)).filter((path) => findRecordPath(recordType, path)?.list),
    ),
    targets,
    compare: readCompare(kind, recordType, compare, targets, at),
  }
}

const targetPath = ({ steps }: MappingTarget): string => steps.map(({ key }) => key).join('.')

function readColumns(
  columns: GivenRecordMapping['columns'],
  records: { readonly kind: Kind; readonly recordTypes: readonly RecordType[] },
  at: readonly PathStep[],
): ColumnMapping {
  if ('duplicates' in columns) throw makeRefusal([...at, 'duplicates'], 'is for files; the key tells rows apart')
  try {
    return readColumnMapping(columns, records)
  } catch (error) {
    throw asSourceRefusal(error, at, Object.keys(columns))
  }
}

/** Turns an error of the mapping into a refusal at `at`; if the message names one of `paths`, at that member of `at`. */
function asSourceRefusal(error: unknown, at: readonly PathStep[], paths: readonly string[] = []): unknown {
  if (!(error instanceof ImportError)) return error
  const about = paths.find((path) => [':', '.'].some((end) => error.message.includes(` of ${path}${end}`)))
  return new SourceRefusal(error.message, about === undefined ? at : [...at, about])
}

/** Refuses a path of the record to which two columns are mapped. Only the elements of a list may come from several tables. */
function refuseDuplicatePaths(parts: readonly ColumnMapping[], at: readonly PathStep[]): void {
  const earlier = new Set<string>()
  for (const [index, { targets }] of parts.entries()) {
    for (const { path, key, identifier_type, steps } of targets) {
      if (steps.some(({ array }) => array)) continue
      const place = JSON.stringify([key, identifier_type])
      if (earlier.has(place)) {
        throw makeRefusal([...partPath(at, index), 'columns', path], 'another column gives it, too; one column must')
      }
      earlier.add(place)
    }
  }
}

type GivenPart = Pick<GivenChild, 'from' | 'select' | 'where' | 'changed' | 'tables'>

function readPart(
  { from, select, where, changed, tables }: GivenPart,
  key: string,
  { targets }: ColumnMapping,
  at: readonly PathStep[],
): MappedTable {
  const columns = [...new Set(targets.flatMap(({ column }) => (column === null ? [] : [column.trim()])))]
  const place = readTableOrQuery(from, select, at)
  return {
    from: place,
    where: where === undefined ? null : requireSqlWithoutSemicolon(where, [...at, 'where']),
    key,
    changed: changed ?? null,
    logged:
      tables === undefined
        ? loggedTablesOf(place, key)
        : tables.map((one, index) => readLoggedTable(one, [...at, 'tables', index])),
    columns,
    targets,
    reader: createRowReader({ targets, duplicates: null }, columns),
  }
}

function readTableOrQuery(from: string | undefined, select: string | undefined, at: readonly PathStep[]): MappedTable['from'] {
  if ((from === undefined) === (select === undefined)) throw makeRefusal(at, 'must have from or select, and not both')
  if (select !== undefined) {
    const text = requireSqlWithoutSemicolon(select, [...at, 'select'])
    if (!/^\s*(?:select|with|values|table)\b/i.test(text)) {
      throw makeRefusal([...at, 'select'], 'must begin with select or with')
    }
    return { select: text }
  }
  const [, schema = null, table] = TABLE_NAME_PATTERN.exec(from ?? '') ?? []
  if (table === undefined) {
    throw makeRefusal([...at, 'from'], 'must be a table or view, such as office.person; anything else stands in select')
  }
  return { schema, table }
}

const loggedTablesOf = (from: MappedTable['from'], key: string): MappedTable['logged'] =>
  'select' in from ? [] : [{ ...from, key }]

function readLoggedTable({ from, on: key }: NonNullable<GivenPart['tables']>[number], at: readonly PathStep[]): LoggedTable {
  const [, schema, table] = TABLE_NAME_PATTERN.exec(from) ?? []
  if (schema === undefined || table === undefined) {
    throw makeRefusal([...at, 'from'], 'must be a table with its schema, such as office.person')
  }
  return { schema, table, key }
}

/** Refuses SQL with a semicolon. What SQL can do is limited where it runs: in a transaction that only reads. */
function requireSqlWithoutSemicolon(text: string, at: readonly PathStep[]): string {
  if (text.includes('\0') || text.includes(';')) throw makeRefusal(at, 'must be one piece of SQL, without a semicolon')
  return text
}

function readCompare(
  kind: Kind,
  recordType: RecordType,
  given: Readonly<Record<string, ColumnComparisonName>>,
  targets: readonly MappingTarget[],
  at: readonly PathStep[],
): ReadonlyMap<string, ColumnComparisonName> {
  const compare = new Map<string, ColumnComparisonName>()
  for (const [name, way] of Object.entries(given)) {
    const place = [...at, 'compare', name]
    const { name: known, compared } = requireComparisonSubject(kind, recordType, name, place)
    const readers = targets.filter((target) => target.reads.includes(known))
    if (compared !== 'identifier' && readers.length === 0) throw makeRefusal(place, 'no column gives it')
    const problem = COLUMN_COMPARISON_RULES[way].problem(compared, readers)
    if (problem !== null) throw makeRefusal(place, problem)
    compare.set(known, way)
  }
  return compare
}

function requireComparisonSubject(
  kind: Kind,
  recordType: RecordType,
  name: string,
  at: readonly PathStep[],
): { readonly name: string; readonly compared: ComparisonSubject } {
  const attributes = attributesExceptAges(recordType)
  const attribute = attributes.find((one) => one.name === name)
  if (attribute !== undefined) return { name, compared: attribute }
  const type = resolveIdentifierType(kind, name)
  if (type !== undefined) return { name: type.name, compared: 'identifier' }
  const names = [...attributes, ...kind.identifier_types].flatMap(namesOf)
  throw makeRefusal(at, `${recordType.name} has no such attribute or identifier type${nearestNameHint(name, names)}`)
}
