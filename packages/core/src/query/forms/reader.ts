/** The state while a query is read: its scope, the used part of its limits, and the names that it resolves. */

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

/** One reader for each query. A limit is checked before the work that it limits. */
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

  /** The record type that was named so far, or the first one of the kind. */
  get recordType(): RecordType {
    return this.#named ?? this.kind.record_types[0]
  }

  /** The scope for another reader, which counts from zero. */
  get scope(): Scope {
    return { kind: this.kind, recordType: this.#named, limits: this.limits, visible: this.#visible }
  }

  /** Notes the record type that the query names. It must be equal to the one that was named before. */
  name(recordType: RecordType, path: string): void {
    if (this.#named !== undefined && this.#named !== recordType) {
      throw new QueryProblem(path, 'must mean the same record type as the criteria around the query')
    }
    this.#named = recordType
  }

  /** Names the collection beside an expression. With `anyCollection`, a record type that is known already stays. */
  nameCollection(recordType: RecordType, path: string): void {
    if (this.#named === undefined || !this.#anyCollection) this.name(recordType, path)
  }

  /** Reads one level deeper. A problem ends the whole query, so then the level is not reset. */
  within<Read>(path: string, read: () => Read): Read {
    if (this.#depth >= this.limits.query_depth) {
      throw new QueryProblem(path, `must not be nested deeper than ${this.limits.query_depth} levels`)
    }
    this.#depth += 1
    const result = read()
    this.#depth -= 1
    return result
  }

  /** Refuses `count` further members, of at least one condition each, that would exceed the limit. */
  room(count: number, path: string): void {
    if (this.#terms + count > this.limits.query_terms) throw this.#tooManyTerms(path)
  }

  /** Counts one more condition. */
  term(path: string): void {
    this.room(1, path)
    this.#terms += 1
  }

  /** Counts more values of a list. */
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
export function pathAt(path: string, step: PathStep): string {
  const text = pathText([step])
  return path === '' || text.startsWith('[') ? `${path}${text}` : `${path}.${text}`
}

export interface Names {
  /** The part of a path from the enclosing objects, such as `name.`. */
  readonly prefix: string
  /** If set, only members of this compound are found. */
  readonly compound: Compound | undefined
}

export const RECORD_NAMES: Names = { prefix: '', compound: undefined }

/** The longest name that is looked up; every name and path of a record is shorter. */
const MAX_NAME_LENGTH = 256

export function resolveName(reader: Reader, { prefix, compound }: Names, name: string): Searchable | undefined {
  if (prefix.length + name.length > MAX_NAME_LENGTH) return undefined
  const found = resolveSearchable(reader.kind, reader.recordType, `${prefix}${name}`)
  if (compound === undefined || isMemberOf(compound, found)) return found
  // Directly in an element of a compound, a member may also be named by its name in the record. In an object below the
  // element, that name would mean another member.
  const around = resolveSearchable(reader.kind, reader.recordType, prefix.slice(0, -1))
  if (around?.is !== 'compound' || around.compound !== compound) return undefined
  const bare = resolveSearchable(reader.kind, reader.recordType, name)
  return isMemberOf(compound, bare) ? bare : undefined
}

function isMemberOf(compound: Compound, found: Searchable | undefined): boolean {
  return found?.is === 'member' && found.compound === compound
}

/**
 * Says what would be accepted instead. An unknown name and a name that is not granted get the same text.
 * @param name the name as written
 */
export function unknownNameProblem(
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

/** A form of object in a query, recognised by its members. It has no other members. */
export interface Form<Read> {
  /** An object with all of these members has this form. */
  readonly members: readonly string[]
  readonly optional?: readonly string[]
  /** An object with further members is not of this form; without it, such an object is refused. */
  readonly exactly?: true
  readonly read: Read
}

/** An object of a form, with its possible conditions. */
export interface Members {
  readonly whole: JsonObject
  readonly path: string
  /** The member; undefined when it is absent. Inherited members are ignored. */
  get(name: string): Member | undefined
  /** The member; its value is null when it is absent. */
  of(name: string): Member
}

/** A member of a query, and its path. */
export interface Member {
  readonly value: JsonValue
  readonly path: string
}

/**
 * The first form that the object has; undefined when it has none.
 * @throws QueryProblem the object has a member that the form does not have, which could be a condition
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
    throw new QueryProblem(pathAt(path, unknown), `is not a known member; known members are ${known.join(', ')}`)
  }
  return { read: form.read, members: membersOf(value, path) }
}

function membersOf(object: JsonObject, path: string): Members {
  const get: Members['get'] = (name) => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined
    return value === undefined ? undefined : { value, path: pathAt(path, name) }
  }
  return { whole: object, path, get, of: (name) => get(name) ?? { value: null, path: pathAt(path, name) } }
}
