/** Attributes that an operator adds to a kind for one registry: checks them, and makes the extended kind. */
import { CODE_LISTS } from '../records/code-lists.ts'
import { RESERVED_QUERY_WORDS } from './identifier-additions.ts'
import type { Attribute, AttributeType, Kind, RecordType } from './kind.ts'
import { resolveSearchable } from './searchable.ts'

/** An attribute that an operator adds to a record type, or an index for an attribute that the record type has. */
export interface AttributeAddition {
  /** The canonical name of a record type of the kind. */
  readonly record_type: string
  /** A new attribute; or an existing attribute, with the same members and `indexed: true`. */
  readonly attribute: Attribute
}

/**
 * The kind with the additions. An existing attribute gets an index. Parts without additions stay the same objects. Call
 * `additionProblem` before.
 */
export function extendKind(kind: Kind, additions: readonly AttributeAddition[]): Kind {
  if (additions.length === 0) return kind
  const extended = (recordType: RecordType): RecordType =>
    additions
      .filter(({ record_type }) => record_type === recordType.name)
      .reduce((before, { attribute }) => withAttribute(before, attribute), recordType)
  const [first, ...others] = kind.record_types
  return { ...kind, record_types: [extended(first), ...others.map(extended)] }
}

function withAttribute(recordType: RecordType, added: Attribute): RecordType {
  const { attributes } = recordType
  if (!attributes.some(({ name }) => name === added.name)) {
    return { ...recordType, attributes: [...attributes, added] }
  }
  if (!added.indexed) return recordType
  const indexed = attributes.map((attribute) =>
    attribute.name === added.name ? { ...attribute, indexed: true as const } : attribute,
  )
  return { ...recordType, attributes: indexed }
}

/** Names that attributes must not have: the columns of every record table, and a member of every JavaScript object. */
const RESERVED_ATTRIBUTE_NAMES = [
  'id',
  'primary_identifier',
  'document',
  'created_at',
  'updated_at',
  'import_run',
  'import_line',
  'constructor',
]
/** System columns that every PostgreSQL table has; an added attribute cannot have their names. */
const POSTGRESQL_SYSTEM_COLUMNS = ['tableoid', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax']
const ATTRIBUTE_NAME_PATTERN = /^[a-z][a-z0-9_]{0,40}$/
const ALIAS_PATTERN = /^[A-Za-z][A-Za-z0-9_]{0,63}$/
const PATH_SEGMENT_PATTERN = /^[^\s.:\p{Cc}](?:[^.:\p{Cc}]*[^\s.:\p{Cc}])?$/u
const MAX_PATH_LENGTH = 200
const MAX_PATHS = 20
const MAX_ALIASES = 20
/** The types that an operator may use: all except `age`, which has no column. */
const ADDABLE_ATTRIBUTE_TYPES: readonly AttributeType[] = ['text', 'code', 'date', 'datetime', 'number', 'boolean']
const ATTRIBUTE_FLAGS = ['many', 'fold', 'indexed', 'sortable'] as const
const ATTRIBUTE_MEMBERS: readonly string[] = ['name', 'aliases', 'paths', 'type', 'codes', ...ATTRIBUTE_FLAGS]

/** Describes the fault of an addition, in words for the operator; null when it is valid. */
export function additionProblem(kind: Kind, addition: AttributeAddition): string | null {
  const recordType = kind.record_types.find(({ name }) => name === addition.record_type)
  if (recordType === undefined) {
    return `record_type: must be one of ${kind.record_types.map(({ name }) => name).join(', ')}`
  }
  // The addition comes from a file or command line: its members may have values of any JSON type.
  const wish: unknown = addition.attribute
  if (typeof wish !== 'object' || wish === null || Array.isArray(wish)) return 'attribute: must be an object'
  const given = wish as UncheckedAttribute
  const existing = recordType.attributes.find(({ name }) => name === given.name)
  if (existing !== undefined) return existingAttributeProblem(existing, given)
  const meansAlready = (name: string) => resolveSearchable(kind, recordType, name) !== undefined
  for (const check of ADDITION_CHECKS) {
    const problem = check(given, meansAlready)
    if (problem !== null) return problem
  }
  return null
}

type UncheckedAttribute = { readonly [member in keyof Attribute]?: unknown }
/** Returns the problem of an addition, or null. `meansAlready` is true for a name that queries of the record type can use. */
type AdditionCheck = (given: UncheckedAttribute, meansAlready: (name: string) => boolean) => string | null

/** Why an addition with the name of an existing attribute is refused; null when it only switches on the index. */
function existingAttributeProblem(existing: Attribute, given: UncheckedAttribute): string | null {
  if (existing.type === 'age') return `${existing.name}: nothing of it is stored; index ${existing.since}`
  const own: UncheckedAttribute = existing
  const same = [...ATTRIBUTE_MEMBERS, 'since'].every((member) => {
    const key = member as keyof Attribute
    return key === 'indexed' || JSON.stringify(given[key]) === JSON.stringify(own[key])
  })
  if (same && given.indexed === true) return null
  return `${existing.name}: the record type has it already; only its index may be switched on`
}

/** The checks of an addition, in order: the first problem is reported. */
const ADDITION_CHECKS: readonly AdditionCheck[] = [
  (given) => {
    const unknown = Object.keys(given).find((member) => !ATTRIBUTE_MEMBERS.includes(member))
    return unknown === undefined ? null : `${unknown}: must be one of ${ATTRIBUTE_MEMBERS.join(', ')}`
  },
  nameProblem,
  ({ type }) =>
    ADDABLE_ATTRIBUTE_TYPES.some((known) => known === type) ? null : `type: must be one of ${ADDABLE_ATTRIBUTE_TYPES.join(', ')}`,
  codeListProblem,
  pathsProblem,
  (given) => {
    const flag = ATTRIBUTE_FLAGS.find((name) => given[name] !== undefined && given[name] !== true)
    return flag === undefined ? null : `${flag}: must be true or left out`
  },
  ({ many, sortable }) => (many && sortable ? 'sortable: an attribute with many values cannot be sorted by' : null),
  ({ fold, type }) => (fold && type !== 'text' ? 'fold: only text compares without case and accents' : null),
  aliasesProblem,
]

function nameProblem({ name }: UncheckedAttribute, meansAlready: (name: string) => boolean): string | null {
  if (typeof name !== 'string' || !ATTRIBUTE_NAME_PATTERN.test(name)) {
    return 'name: must be 1 to 41 lower-case letters, digits and _, beginning with a letter'
  }
  if (RESERVED_ATTRIBUTE_NAMES.includes(name)) return `name: ${RESERVED_ATTRIBUTE_NAMES.join(', ')} are reserved`
  if (POSTGRESQL_SYSTEM_COLUMNS.includes(name)) return `name: ${POSTGRESQL_SYSTEM_COLUMNS.join(', ')} are columns of every table`
  if (RESERVED_QUERY_WORDS.includes(name)) return `name: ${RESERVED_QUERY_WORDS.join(', ')} mean something else in a query`
  // A date has two columns, whose names end in `_from` and `_to`.
  if (/_(?:from|to)$/.test(name)) return 'name: must not end in _from or _to'
  return meansAlready(name) ? `name: ${name} already means something in this record type` : null
}

function codeListProblem({ type, codes }: UncheckedAttribute): string | null {
  if (type !== 'code') return codes === undefined ? null : 'codes: only for type code'
  return typeof codes === 'string' && Object.hasOwn(CODE_LISTS, codes)
    ? null
    : `codes: must be one of ${Object.keys(CODE_LISTS).join(', ')}`
}

function pathsProblem({ paths }: UncheckedAttribute): string | null {
  if (!Array.isArray(paths) || paths.length === 0 || paths.length > MAX_PATHS) {
    return `paths: must be a list of 1 to ${MAX_PATHS} paths in the record`
  }
  const malformed = paths.findIndex(
    (path: unknown) =>
      typeof path !== 'string' ||
      path.length > MAX_PATH_LENGTH ||
      !path.split('.').every((segment) => PATH_SEGMENT_PATTERN.test(segment)),
  )
  if (malformed >= 0) {
    return `paths[${malformed}]: must be member names joined by dots, without prefixes, such as address.locality`
  }
  return new Set(paths).size < paths.length ? 'paths: must not repeat a path' : null
}

function aliasesProblem({ name, aliases }: UncheckedAttribute, meansAlready: (name: string) => boolean): string | null {
  if (aliases === undefined) return null
  if (!Array.isArray(aliases) || aliases.length > MAX_ALIASES) {
    return `aliases: must be a list of at most ${MAX_ALIASES} names`
  }
  const seen = new Set([name])
  for (const [index, alias] of aliases.entries()) {
    if (typeof alias !== 'string' || !ALIAS_PATTERN.test(alias)) {
      return `aliases[${index}]: must be 1 to 64 letters, digits and _, beginning with a letter`
    }
    if (RESERVED_QUERY_WORDS.includes(alias.toLowerCase())) {
      return `aliases[${index}]: ${RESERVED_QUERY_WORDS.join(', ')} mean something else in a query`
    }
    if (seen.has(alias.toLowerCase())) return `aliases[${index}]: repeats a name`
    seen.add(alias.toLowerCase())
    if (meansAlready(alias)) return `aliases[${index}]: already means something in this record type`
  }
  return null
}
