/** Keeps the state while a query is read: its scope, how much of its limits is used, and the names that it may use. */

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
import { type QueryLimits, QueryProblem, type QueryScope } from '../query.ts'

/** The state of reading one query: its record type and counts. A limit is checked before the work that it limits. */
export class QueryReader {
  readonly kind: Kind
  readonly limits: QueryLimits
  readonly #anyCollection: boolean
  readonly #visible: QueryScope['visible']
  #named: RecordType | undefined
  #depth = 0
  #terms = 0
  #values = 0

  constructor({ kind, recordType, limits, anyCollection, visible }: QueryScope) {
    this.kind = kind
    this.limits = limits
    this.#anyCollection = anyCollection ?? false
    this.#named = recordType
    this.#visible = visible
  }

  /** The record type that the query has named so far; else the first one of the kind. */
  get recordType(): RecordType {
    return this.#named ?? this.kind.record_types[0]
  }

  /** The scope for another reader, such as of a GraphQL text in the query; that reader counts from zero. */
  get scope(): QueryScope {
    return { kind: this.kind, recordType: this.#named, limits: this.limits, visible: this.#visible }
  }

  /** Notes that the query names this record type. @throws QueryProblem the query or its criteria named another type before */
  name(recordType: RecordType, path: string): void {
    if (this.#named !== undefined && this.#named !== recordType) {
      throw new QueryProblem(path, 'must mean the same record type as the criteria around the query')
    }
    this.#named = recordType
  }

  /**
   * Notes the record type that a member `collection` names. If the query already has another record type, the `collection` is
   * ignored when `anyCollection` is true; otherwise the query is refused.
   */
  nameCollection(recordType: RecordType, path: string): void {
    if (this.#named === undefined || !this.#anyCollection) this.name(recordType, path)
  }

  /** Reads one level deeper. After an error the level is not set back, because the error ends the query. */
  within<Read>(path: string, read: () => Read): Read {
    if (this.#depth >= this.limits.query_depth) {
      throw new QueryProblem(path, `must not be nested deeper than ${this.limits.query_depth} levels`)
    }
    this.#depth += 1
    const result = read()
    this.#depth -= 1
    return result
  }

  /** Checks that the limit allows `count` more conditions, without counting them. @throws QueryProblem */
  room(count: number, path: string): void {
    if (this.#terms + count > this.limits.query_terms) throw this.#tooManyTerms(path)
  }

  /** Counts one more condition of the query. @throws QueryProblem above the limit */
  term(path: string): void {
    this.room(1, path)
    this.#terms += 1
  }

  /** Counts more values in lists of the query. @throws QueryProblem above the limit */
  values(count: number, path: string): void {
    this.#values += count
    if (this.#values <= this.limits.query_values) return
    throw new QueryProblem(path, `a query must have at most ${this.limits.query_values} values in its lists`)
  }

  #tooManyTerms(path: string): QueryProblem {
    return new QueryProblem(path, `a query must have at most ${this.limits.query_terms} conditions`)
  }
}

/** Joins a path and a step: `query` and `sex` give `query.sex`; `query` and 0 give `query[0]`. */
export function joinPathStep(path: string, step: PathStep): string {
  const text = pathText([step])
  return path === '' || text.startsWith('[') ? `${path}${text}` : `${path}.${text}`
}

export interface QueryNameScope {
  /** The names of the enclosing objects as the beginning of an attribute's name, such as `name.`. */
  readonly prefix: string
  /** The compound to which a name must belong to be found; undefined when any name may be found. */
  readonly compound: Compound | undefined
}

/** The scope of names in the outermost object of a query: all names of the record type. */
export const RECORD_NAME_SCOPE: QueryNameScope = { prefix: '', compound: undefined }

/** The most characters of a name that is looked up. A longer name counts as unknown. */
const MAX_NAME_LENGTH = 256

/** The attribute, compound or identifiers that a name in a query means; undefined when it means none. */
export function resolveQueryName(
  reader: QueryReader,
  { prefix, compound }: QueryNameScope,
  name: string,
): Searchable | undefined {
  if (prefix.length + name.length > MAX_NAME_LENGTH) return undefined
  const found = resolveSearchable(reader.kind, reader.recordType, `${prefix}${name}`)
  if (compound === undefined || isCompoundMember(compound, found)) return found
  // Directly in the object of a compound, a member may also have the name that a query uses for it outside of the compound. In a
  // deeper object, the same name would mean another member.
  const around = resolveSearchable(reader.kind, reader.recordType, prefix.slice(0, -1))
  if (around?.is !== 'compound' || around.compound !== compound) return undefined
  const bare = resolveSearchable(reader.kind, reader.recordType, name)
  return isCompoundMember(compound, bare) ? bare : undefined
}

function isCompoundMember(compound: Compound, found: Searchable | undefined): boolean {
  return found?.is === 'member' && found.compound === compound
}

/**
 * Makes an error that lists the known names. A name that is not granted gets the same text as an unknown one.
 * @param name the name as written
 */
export function unknownNameProblem(
  { kind, recordType }: QueryReader,
  { prefix, compound }: QueryNameScope,
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

/** One form that an object in a query may have, such as `{ type, value }`, recognised by its members. */
export interface QueryObjectForm<Read> {
  /** An object that has all these members has this form. */
  readonly members: readonly string[]
  readonly optional?: readonly string[]
  /**
   * True: an object has this form only if it has no other members. Absent: an object with the members of the form and an unknown
   * member is refused.
   */
  readonly exactly?: true
  readonly read: Read
}

/** Reads the members of an object in a query, after its form was found. */
export interface QueryObjectMembers {
  readonly whole: JsonObject
  readonly path: string
  /** Returns the member with this name; undefined when it is missing. Inherited members are ignored. */
  get(name: string): MemberValue | undefined
  /** Returns the member with this name; a missing one has the value null. */
  of(name: string): MemberValue
}

/** The value of a member in a query, with the member's path for refusals. */
export interface MemberValue {
  readonly value: JsonValue
  readonly path: string
}

/**
 * Finds the first form that the object has; undefined when it has none.
 * @throws QueryProblem the object has a member that the form does not have: to ignore it could be to ignore a condition
 */
export function findQueryObjectForm<Read>(
  forms: readonly QueryObjectForm<Read>[],
  value: JsonValue,
  path: string,
): { readonly read: Read; readonly members: QueryObjectMembers } | undefined {
  if (!isJsonObject(value)) return undefined
  const form = forms.find(
    ({ members, exactly }) =>
      members.every((name) => Object.hasOwn(value, name)) && (exactly !== true || Object.keys(value).length === members.length),
  )
  if (form === undefined) return undefined
  const known = [...form.members, ...(form.optional ?? [])]
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new QueryProblem(joinPathStep(path, unknown), `is not a known member; known members are ${known.join(', ')}`)
  }
  const get: QueryObjectMembers['get'] = (name) => {
    const member = Object.hasOwn(value, name) ? value[name] : undefined
    return member === undefined ? undefined : { value: member, path: joinPathStep(path, name) }
  }
  const of: QueryObjectMembers['of'] = (name) => get(name) ?? { value: null, path: joinPathStep(path, name) }
  return { read: form.read, members: { whole: value, path, get, of } }
}
