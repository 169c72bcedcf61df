/**
 * The state of a query's reader: its scope, the used part of its limits, the names
 * that it resolves, and the form of an object.
 */

import {
  type Compound,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Kind,
  type PathStep,
  pathText,
  type RecordType,
  resolveSearchable,
  type Searchable,
  searchableNames,
} from '@rollcall/protocol'
import { type QueryLimits, QueryProblem, type Scope } from '../query.ts'

/** One for each query that is read. Bounds are checked before the work that they bound is done. */
export class Reader {
  readonly kind: Kind
  readonly limits: QueryLimits
  readonly #anyCollection: boolean
  readonly #visible: Scope['visible']
  #named: RecordType | undefined
  #depth = 0
  #terms = 0
  #values = 0

  constructor({ kind, recordType, limits, anyCollection, visible }: Scope) {
    this.kind = kind
    this.limits = limits
    this.#anyCollection = anyCollection ?? false
    this.#named = recordType
    this.#visible = visible
  }

  /** The record type that was named so far, or the kind's default. */
  get recordType(): RecordType {
    return this.#named ?? this.kind.record_types[0]
  }

  /** The same scope, for a reader that counts for itself. */
  get scope(): Scope {
    return { kind: this.kind, recordType: this.#named, limits: this.limits, visible: this.#visible }
  }

  /** The query itself names a record type: the one that was named before, if any was. */
  name(recordType: RecordType, path: string): void {
    if (this.#named !== undefined && this.#named !== recordType) {
      throw new QueryProblem(path, 'must mean the same record type as the criteria around the query')
    }
    this.#named = recordType
  }

  /** As `name`, of the collection beside an expression. */
  nameCollection(recordType: RecordType, path: string): void {
    if (this.#named === undefined || !this.#anyCollection) this.name(recordType, path)
  }

  /** Reads one level deeper. A problem ends the whole query, so that the level need not be left then. */
  within<Read>(path: string, read: () => Read): Read {
    if (this.#depth >= this.limits.query_depth) {
      throw new QueryProblem(path, `must not be nested deeper than ${this.limits.query_depth} levels`)
    }
    this.#depth += 1
    const result = read()
    this.#depth -= 1
    return result
  }

  /** So many members stand here, each with at least one condition. */
  room(count: number, path: string): void {
    if (this.#terms + count > this.limits.query_terms) throw this.#tooManyTerms(path)
  }

  /** One more condition. */
  term(path: string): void {
    this.room(1, path)
    this.#terms += 1
  }

  /** So many more values of a list. */
  values(count: number, path: string): void {
    this.#values += count
    if (this.#values <= this.limits.query_values) return
    throw new QueryProblem(path, `a query must have at most ${this.limits.query_values} values in its lists`)
  }

  #tooManyTerms(path: string): QueryProblem {
    return new QueryProblem(path, `a query must have at most ${this.limits.query_terms} conditions`)
  }
}

/** `query` and `sex` make `query.sex`; `query` and 0 make `query[0]`. */
export function at(path: string, step: PathStep): string {
  const text = pathText([step])
  return path === '' || text.startsWith('[') ? `${path}${text}` : `${path}.${text}`
}

export interface Names {
  /** The part of the path that the enclosing objects gave, such as `name.`. */
  readonly prefix: string
  /** Only members of this compound are meant. */
  readonly compound: Compound | undefined
}

export const RECORD_NAMES: Names = { prefix: '', compound: undefined }

/** Longer than every name and path of a record; nothing is looked up by more. */
const MAX_NAME_LENGTH = 256

export function resolveName(reader: Reader, { prefix, compound }: Names, name: string): Searchable | undefined {
  if (prefix.length + name.length > MAX_NAME_LENGTH) return undefined
  const found = resolveSearchable(reader.kind, reader.recordType, `${prefix}${name}`)
  if (compound === undefined || isMemberOf(compound, found)) return found
  // Right in the element a member may be named as the record's; below something else it would be another's.
  const around = resolveSearchable(reader.kind, reader.recordType, prefix.slice(0, -1))
  if (around?.is !== 'compound' || around.compound !== compound) return undefined
  const bare = resolveSearchable(reader.kind, reader.recordType, name)
  return isMemberOf(compound, bare) ? bare : undefined
}

function isMemberOf(compound: Compound, found: Searchable | undefined): boolean {
  return found?.is === 'member' && found.compound === compound
}

/**
 * What would be accepted instead. An unknown name and one that is not granted get the same text.
 * @param name as it was written
 */
export function unknownName(
  { kind, recordType }: Reader,
  { prefix, compound }: Names,
  path: string,
  name: unknown,
): QueryProblem {
  const names = compound?.members.map(({ name }) => name) ?? searchableNames(kind, recordType)
  const owner = compound?.name ?? recordType.emitted
  const whole = typeof name === 'string' && name.length <= MAX_NAME_LENGTH ? `${prefix}${name}` : undefined
  const other = kind.record_types.find(
    (type) => type !== recordType && whole !== undefined && resolveSearchable(kind, type, whole) !== undefined,
  )
  const hint = other === undefined ? '' : `; it is one of ${other.emitted}: ask with response_entity: ${other.emitted}`
  const rule = `is no attribute that this participant may ask about; those of ${owner} are ${names.join(', ')}${hint}`
  return new QueryProblem(path, rule)
}

/** A form is known by its members: which row of a table an object is, and that it has no member more. */
export interface Form<Read> {
  /** An object that has all of these is of the form. */
  readonly members: readonly string[]
  readonly optional?: readonly string[]
  /** An object with further members is of another form, instead of being refused. */
  readonly exactly?: true
  readonly read: Read
}

/** An object of a form, with its possible conditions. */
export interface Members {
  readonly whole: JsonObject
  readonly path: string
  /** The member, undefined when it is absent; own members alone count. */
  get(name: string): Member | undefined
  /** The member, null when it is absent. */
  of(name: string): Member
}

/** A member of a query, and where it stands. */
export interface Member {
  readonly value: JsonValue
  readonly path: string
}

/**
 * The first form that the object has; undefined when it has none.
 * @throws QueryProblem when it has a member that the form does not know: a condition would go unnoticed
 */
export function formOf<Read>(
  forms: readonly Form<Read>[],
  value: JsonValue,
  path: string,
): { readonly read: Read; readonly members: Members } | undefined {
  if (!isJsonObject(value)) return undefined
  const form = forms.find(
    ({ members, exactly }) =>
      members.every((name) => Object.hasOwn(value, name)) &&
      (exactly !== true || Object.keys(value).length === members.length),
  )
  if (form === undefined) return undefined
  const known = [...form.members, ...(form.optional ?? [])]
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new QueryProblem(at(path, unknown), `is not a known member; known members are ${known.join(', ')}`)
  }
  return { read: form.read, members: membersOf(value, path) }
}

function membersOf(object: JsonObject, path: string): Members {
  const get: Members['get'] = (name) => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined
    return value === undefined ? undefined : { value, path: at(path, name) }
  }
  return { whole: object, path, get, of: (name) => get(name) ?? { value: null, path: at(path, name) } }
}
