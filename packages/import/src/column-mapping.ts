/**
 * The column mapping of a table (docs/import.md): for each path in the record, the column with the value and the rule
 * for reading it. CSV files and the tables of sources have the same form of mapping.
 */

import { nearestName, nearestNameHint } from '@rollcall/base/shared/message-words'
import {
  type Attribute,
  type Kind,
  namesOf,
  oneOf,
  type RecordType,
  readAttribute,
  resolveIdentifierType,
  searchKey,
  validator,
} from '@rollcall/protocol'
import Type, { type Static, type TSchema } from 'typebox'
import { type DateFormats, parseDateFormats } from './date-formats.ts'
import { ImportError } from './import-error.ts'
import { findRecordPath, pathsByName, type RecordPath } from './record-paths.ts'
import { DUPLICATE_RULES, type DuplicateRule } from './write-lines.ts'

/** The treatment of a value that `codes` does not list. */
export const UNLISTED_CODE_RULES = ['reject', 'keep', 'omit'] as const

/** The mark in a proposed mapping that the operator must replace, such as by the meaning of a code. */
export const UNDECIDED_MARK = '?'

const ColumnSchema = Type.String({ minLength: 1, description: 'Name of a column, as in the header line.' })
const ScalarSchema = Type.Union([Type.String({ minLength: 1 }), Type.Number(), Type.Boolean()])

const DateFormatSchema = Type.String({ minLength: 1 })

const ColumnRuleSchema = Type.Object(
  {
    column: ColumnSchema,
    format: Type.Optional(
      Type.Union([DateFormatSchema, Type.Array(DateFormatSchema, { minItems: 1 })], {
        description: 'How the dates of the column are written, such as dd/MM/yyyy; of several formats each is tried.',
      }),
    ),
    codes: Type.Optional(
      Type.Record(Type.String(), ScalarSchema, {
        minProperties: 1,
        description: 'By value of the column, the value of the record, such as {"1": "male"}.',
      }),
    ),
    unlisted: Type.Optional(
      oneOf(UNLISTED_CODE_RULES, {
        description: 'A value that codes does not list: reject the record (default), keep the value, or omit it.',
      }),
    ),
    split: Type.Optional(
      Type.String({ minLength: 1, description: 'What stands between the values of a cell that has several.' }),
    ),
  },
  { additionalProperties: false },
)

/** The member of a mapping with the treatment of repeated records. All other members are paths. */
const DUPLICATE_RECORDS_MEMBER = 'duplicates'
const DuplicatesSchema = oneOf(DUPLICATE_RULES, {
  description:
    'Whose record stands where lines have the same primary identifier: reject the later lines (default), or the last one.',
})

const ConstantSchema = Type.Object({ value: ScalarSchema }, { additionalProperties: false })

/** The schema of a column mapping file: for each path in the record, a column or a constant. */
export const ColumnMappingFile = Type.Record(Type.String(), Type.Union([ColumnSchema, ColumnRuleSchema, ConstantSchema]), {
  minProperties: 1,
  description: 'By path in the record, such as name.given_name or identifier[UIN]: a column, how it is read, or a constant.',
})
export type ColumnMappingFile = Static<typeof ColumnMappingFile>

/** One step of a path: the name of a member, and whether the member has a list. */
export interface MappingPathStep {
  readonly key: string
  readonly array: boolean
}

/** How a mapping makes one value of a record: the path, the column or constant, and how cells are read. */
export interface MappingTarget {
  /** The path in the record, as written in the mapping. */
  readonly path: string
  readonly steps: readonly MappingPathStep[]
  /** The identifier type in the brackets of a path such as `identifier[UIN]`; null: the path has no brackets. */
  readonly identifier_type: string | null
  /** The column with the value; null: the value is a constant. */
  readonly column: string | null
  readonly value: string | number | boolean | null
  readonly format: DateFormats | null
  readonly codes: ReadonlyMap<string, string | number | boolean> | null
  readonly unlisted: (typeof UNLISTED_CODE_RULES)[number]
  readonly split: string | null
  /** The path without brackets, in the form that is equal for all spellings of the path. */
  readonly key: string
  /** The names of the attributes and identifier types that are read at this path. */
  readonly reads: readonly string[]
}

/** A column mapping that `readColumnMapping` has checked. */
export interface ColumnMapping {
  readonly targets: readonly MappingTarget[]
  /** The treatment of repeated records; null: the mapping does not say. */
  readonly duplicates: DuplicateRule | null
}

/** The kind and the possible types of the records that a mapping makes. */
export interface KindAndRecordTypes {
  readonly kind: Kind
  /** The types that a record may have. */
  readonly recordTypes: readonly RecordType[]
}

const MAPPING_PATH_PATTERN = /^([^.[\]]+(?:\.[^.[\]]+)*)(?:\[([^.[\]]+)\])?$/
const EXAMPLE_MAPPING = '{"name.given_name": "Given name", "identifier[UIN]": "Number"}'

/**
 * Checks a mapping, and returns its targets and its treatment of repeated records.
 * @param records null: any path is accepted, as for records of another registry
 * @throws ImportError names the rule, and the path that breaks it, if there is one
 */
export function readColumnMapping(given: unknown, records: KindAndRecordTypes | null): ColumnMapping {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new ImportError(`the column mapping must be a JSON object such as ${EXAMPLE_MAPPING}`)
  }
  const { [DUPLICATE_RECORDS_MEMBER]: repeated, ...paths } = given as Record<string, unknown>
  const duplicates = repeated === undefined ? null : checkMappingValue(DuplicatesSchema, repeated, DUPLICATE_RECORDS_MEMBER)
  const entries = Object.entries(paths)
  if (entries.length === 0) throw new ImportError('the column mapping is empty; name at least one path')
  if (records !== null) refuseReversedMapping(entries, records)
  const targets = entries.map(([path, rule]) => readTarget(path, rule, records))
  for (const [index, target] of targets.entries()) {
    const rival = targets.slice(0, index).find((other) => areCollidingTargets(target, other))
    if (rival) {
      throw new ImportError(
        `the column mapping has ${rival.path} and ${target.path}: they are the same, or one is inside the other`,
      )
    }
  }
  if (targets.every(({ column }) => column === null)) {
    throw new ImportError('the column mapping has constants alone; name at least one column')
  }
  return { targets, duplicates }
}

function readTarget(path: string, given: unknown, records: KindAndRecordTypes | null): MappingTarget {
  const match = MAPPING_PATH_PATTERN.exec(path)
  const keys = match?.[1]?.split('.')
  if (!keys || keys.includes('__proto__')) {
    throw mappingError(path, 'must be a path such as name.given_name or identifier[UIN]')
  }
  const rule = readRule(path, given)
  const places = records === null ? null : requireRecordPaths(records, path, keys.join('.'))
  const identifier_type = match?.[2] === undefined ? null : requireIdentifierType(records, path, match[2], places)
  const target: MappingTarget = {
    path,
    steps: pathStepsOf(keys, records, identifier_type),
    identifier_type,
    column: null,
    value: null,
    format: null,
    codes: null,
    unlisted: 'reject',
    split: null,
    key: searchKey(keys.join('.')),
    reads:
      identifier_type === null
        ? (places ?? []).flatMap(({ attributes, types }) => [...attributes.map(({ name }) => name), ...types])
        : [identifier_type],
    ...rule,
  }
  if (places !== null) checkTargetAgainstPaths(target, places)
  return target
}

/** Reads the rule that the mapping has for a path. */
function readRule(path: string, given: unknown): Partial<MappingTarget> {
  if (typeof given === 'string') return { column: checkMappingValue(ColumnSchema, given, path) }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw mappingError(path, 'must be the name of a column, or an object with column or value')
  }
  if ('value' in given) return checkMappingValue(ConstantSchema, given, path)
  const { column, format, codes, unlisted, split } = checkMappingValue(ColumnRuleSchema, given, path)
  if (format !== undefined && codes !== undefined) throw mappingError(path, 'has format and codes; name one')
  if (unlisted !== undefined && codes === undefined) throw mappingError(`${path}.unlisted`, 'needs codes')
  for (const [code, to] of Object.entries(codes ?? {})) {
    if (to === UNDECIDED_MARK) throw mappingError(`${path}.codes.${code}`, 'stands for "?"; write what it means')
  }
  const dates = format === undefined ? null : parseDateFormats(format)
  if (typeof dates === 'string') throw mappingError(`${path}.format`, dates)
  return {
    column,
    ...(dates !== null && { format: dates }),
    ...(codes !== undefined && { codes: new Map(Object.entries(codes)) }),
    ...(unlisted !== undefined && { unlisted }),
    ...(split !== undefined && { split }),
  }
}

const validatorBySchema = new Map<TSchema, ReturnType<typeof validator>>()

function checkMappingValue<Schema extends TSchema>(schema: Schema, given: unknown, path: string): Static<Schema> {
  const names = Object.keys((schema as { properties?: object }).properties ?? {})
  if (names.length > 0 && typeof given === 'object' && given !== null && !Array.isArray(given)) {
    const unknown = Object.keys(given).find((name) => !names.includes(name))
    if (unknown !== undefined) {
      const rule = `is no member; the members are ${names.join(', ')}${nearestNameHint(unknown, names)}`
      throw mappingError(`${path}.${unknown}`, rule)
    }
  }
  const checker = validatorBySchema.get(schema) ?? validator(schema)
  validatorBySchema.set(schema, checker)
  return checker.checked(given, path, (problem) => new ImportError(`the column mapping of ${problem}`)) as Static<Schema>
}

const mappingError = (path: string, rule: string): ImportError => new ImportError(`the column mapping of ${path}: ${rule}`)

/**
 * Finds what each record type may have at a path; record types without the path are left out.
 * @param path the path as the mapping has it, for the message
 * @param dotted the path without brackets
 * @throws ImportError no record type has the path
 */
function requireRecordPaths(records: KindAndRecordTypes, path: string, dotted: string): readonly RecordPath[] {
  const places = records.recordTypes.flatMap((recordType) => findRecordPath(recordType, dotted) ?? [])
  if (places.length > 0) return places
  const types = records.recordTypes.map(({ name }) => name).join(' or ')
  throw mappingError(path, `${types} has no such path${nearestPathHint(records, dotted)}`)
}

function nearestPathHint({ recordTypes }: KindAndRecordTypes, dotted: string): string {
  const names = pathsByName(recordTypes)
  const last = dotted.slice(dotted.lastIndexOf('.') + 1)
  const nearest = nearestName(dotted, names.keys()) ?? nearestName(last, names.keys())
  return nearest === undefined ? '; docs/kinds lists the paths' : `; the nearest is ${names.get(nearest)}`
}

function requireIdentifierType(
  records: KindAndRecordTypes | null,
  path: string,
  name: string,
  places: readonly RecordPath[] | null,
): string {
  if (records === null) return name
  if (!places?.some(({ identifier }) => identifier)) {
    throw mappingError(path, 'no identifier stands there; write the path without brackets')
  }
  const found = resolveIdentifierType(records.kind, name)
  if (found !== undefined) return found.name
  const types = records.kind.identifier_types
  const nearest = nearestNameHint(name, types.flatMap(namesOf))
  throw mappingError(
    path,
    `the registry has no identifier type ${name}${nearest}; it has ${types.map((type) => type.name).join(', ')}`,
  )
}

/** Checks that the rule of a target (date format, split, constant, codes) suits what may be at its path. @throws ImportError */
function checkTargetAgainstPaths(target: MappingTarget, places: readonly RecordPath[]): void {
  const { path, identifier_type, format, split, codes, value } = target
  if (identifier_type !== null) return
  if (!places.some(({ holdsValue, open }) => holdsValue || open)) {
    const isIdentifier = places.some(({ identifier }) => identifier)
    const advice = isIdentifier ? `name its type, such as ${path}[UIN]` : 'name one of its members'
    throw mappingError(path, `an object stands there, not a value; ${advice}`)
  }
  const attributes = places.flatMap((place) => place.attributes)
  const [attribute] = attributes
  const isDate = attributes.some(({ type }) => type === 'date' || type === 'datetime')
  if (format !== null && attribute !== undefined && !isDate) {
    throw mappingError(`${path}.format`, `is for dates, and ${attribute.name} is of type ${attribute.type}`)
  }
  if (split !== null && !places.some(({ list, open }) => list || open)) {
    throw mappingError(`${path}.split`, 'makes a list, and one value alone stands there')
  }
  if (value !== null && !isValueOfAttributes(attributes, value)) {
    throw mappingError(`${path}.value`, `is no value of type ${attribute?.type}`)
  }
  for (const [code, to] of codes ?? []) {
    if (!isValueOfAttributes(attributes, to))
      throw mappingError(`${path}.codes.${code}`, `is no value of type ${attribute?.type}`)
  }
}

/** True when one of the attributes can have the value. An empty list of attributes allows any value. */
const isValueOfAttributes = (attributes: readonly Attribute[], value: string | number | boolean): boolean =>
  attributes.length === 0 || attributes.some((attribute) => readAttribute({ ...attribute, paths: [''] }, value) !== null)

/**
 * The steps of a path. A step has `array` if the schema allows only a list there: the record then gets a list. The last step of a
 * path to an identifier has `array` also if the schema allows several values there, or `records` is null.
 */
function pathStepsOf(
  keys: readonly string[],
  records: KindAndRecordTypes | null,
  identifierType: string | null,
): readonly MappingPathStep[] {
  return keys.map((key, at) => {
    const path = keys.slice(0, at + 1).join('.')
    const [place] = records?.recordTypes.flatMap((recordType) => findRecordPath(recordType, path) ?? []) ?? []
    const isIdentifier = identifierType !== null && at === keys.length - 1
    if (isIdentifier) return { key, array: place === undefined || place.list }
    return { key, array: place?.array === true }
  })
}

/**
 * True when two targets write to one place, or one writes inside the other. Identifiers of different types share a list, so they
 * do not collide.
 */
function areCollidingTargets(one: MappingTarget, other: MappingTarget): boolean {
  const [a, b] = [one, other].map(({ steps }) => steps.map(({ key }) => searchKey(key)))
  if (a === undefined || b === undefined) return false
  const shared = Math.min(a.length, b.length)
  if (a.slice(0, shared).join('.') !== b.slice(0, shared).join('.')) return false
  const isList = a.length === b.length && one.steps.at(-1)?.array === true
  const types = [one.identifier_type, other.identifier_type]
  return !(isList && !types.includes(null) && types[0] !== types[1])
}

/** Refuses a mapping in the form of earlier versions, which had the column first and then the path. */
function refuseReversedMapping(entries: readonly (readonly [string, unknown])[], { recordTypes }: KindAndRecordTypes): void {
  const isPath = (text: unknown): boolean => {
    const dotted = typeof text === 'string' ? MAPPING_PATH_PATTERN.exec(text)?.[1] : undefined
    return dotted !== undefined && recordTypes.some((recordType) => findRecordPath(recordType, dotted) !== undefined)
  }
  if (entries.some(([path]) => isPath(path)) || !entries.every(([, column]) => isPath(column))) return
  throw new ImportError(`the column mapping is the other way round: write the path first, such as ${EXAMPLE_MAPPING}`)
}
