/** What an account says of a record that is shown: the paths of its values, and the persons of whom it shows something. */
import {
  heldAt,
  type IdentifierSource,
  identifiersWithin,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Kind,
  type RecordType,
  type Relation,
  readIdentifiers,
} from '@rollcall/protocol'
import type { AccountedPerson, PersonIdentifier } from '../model/account.ts'
import { type RelatedPerson, STRUCTURE } from './cut.ts'
import { undescribedIn } from './undescribed-persons.ts'

/** Paths, and lists of them, that are remembered: names of members come from records, and from queries that choose names. */
const MOST = 10_000

interface PathNode {
  readonly path: string
  readonly number: number
  readonly below: Map<string, PathNode>
  /** The number of the record in which a value was last found here. */
  record: number
}

/** The paths of the values of records. The text of each path is in memory once, and so is each list of paths. */
export class PathNames {
  #root = nodeOf('', 0)
  readonly #lists = new Map<string, readonly string[]>()
  #made = 0
  #records = 0

  /** Each path once, in the order of the record; an empty list or object is a value as well. Equal lists are one object. */
  of(record: JsonValue): readonly string[] {
    if (this.#made + this.#lists.size > MOST) {
      this.#root = nodeOf('', 0)
      this.#lists.clear()
      this.#made = 0
    }
    this.#records += 1
    const found: PathNode[] = []
    this.#add(record, this.#root, found)
    const key = found.map(({ number }) => number).join()
    const known = this.#lists.get(key) ?? found.map(({ path }) => path)
    this.#lists.set(key, known)
    return known
  }

  #add(value: JsonValue, at: PathNode, found: PathNode[]): void {
    if (Array.isArray(value) && value.length > 0) {
      for (const element of value) this.#add(element, at, found)
      return
    }
    const names = typeof value === 'object' && value !== null ? Object.keys(value) : []
    if (names.length === 0) {
      if (at.record === this.#records || at === this.#root) return
      at.record = this.#records
      found.push(at)
      return
    }
    for (const name of names) {
      if (STRUCTURE.includes(name)) continue
      let node = at.below.get(name)
      if (node === undefined) {
        this.#made += 1
        node = nodeOf(at === this.#root ? name : `${at.path}.${name}`, this.#made)
        at.below.set(name, node)
      }
      this.#add((value as JsonObject)[name] ?? null, node, found)
    }
  }
}

const nodeOf = (path: string, number: number): PathNode => ({ path, number, below: new Map(), record: 0 })

const ITSELF: IdentifierSource = { path: '', names: 'record' }

/** The person of a record, by all identifiers that name it. */
export const personOf = (
  kind: Kind,
  recordType: Pick<RecordType, 'identifiers'>,
  record: JsonValue,
): AccountedPerson => ({
  role: 'seen',
  identifiers: readIdentifiers(kind, recordType, record).flatMap(({ names, type, value }) =>
    names === 'record' ? [{ type, value }] : [],
  ),
})

/** Of identifiers that were asked for, those by which a record was found that is about several persons, such as a household. */
export function partsAsked(
  kind: Kind,
  recordType: Pick<RecordType, 'identifiers'>,
  record: JsonValue,
  asked: readonly PersonIdentifier[],
): readonly PersonIdentifier[] {
  const parts = readIdentifiers(kind, recordType, record).filter(({ names }) => names === 'part')
  return asked.filter((one) => parts.some(({ type, value }) => type === one.type && value === one.value))
}

/** The other persons, as they are known. One whom no identifier names cannot be accounted. */
export function personsIn(kind: Kind, related: readonly RelatedPerson[]): readonly AccountedPerson[] {
  return related.flatMap(({ relation, person }) => {
    const named = relatedIdentifiers(kind, relation, person)
    return named.identifiers.length === 0 ? [] : [named]
  })
}

function relatedIdentifiers(kind: Kind, { record_type }: Relation, person: JsonValue): AccountedPerson {
  const recordType = kind.record_types.find(({ name }) => name === record_type)
  const named = personOf(kind, recordType ?? { identifiers: [ITSELF] }, person)
  return named.identifiers.length > 0 || !isJsonObject(person)
    ? named
    : { ...named, identifiers: identifiersWithin(kind, person, recordType) }
}

/** By path, of the rows of all kinds. */
const readers = new Map<string, (document: JsonValue) => JsonValue[]>()

function at(path: string, from: JsonValue): JsonValue[] {
  const read = readers.get(path) ?? heldAt(path)
  readers.set(path, read)
  return read(from)
}

/** All other persons in a record. */
export function relatedIn(kind: Kind, recordType: RecordType, record: JsonValue): readonly RelatedPerson[] {
  return withUndescribed(kind, recordType, record, record, describedIn(kind, recordType, record))
}

/**
 * Those who are described, and those who are not.
 * @param shown what is shown of the record
 */
export const withUndescribed = (
  kind: Kind,
  recordType: RecordType,
  record: JsonValue,
  shown: JsonValue,
  described: readonly RelatedPerson[],
): readonly RelatedPerson[] => [
  ...described,
  ...undescribedIn(kind, recordType, shown, described, () =>
    [personOf(kind, recordType, record), ...personsIn(kind, described)].flatMap(({ identifiers }) => identifiers),
  ),
]

/** Those of the relations of the kind. */
export function describedIn(
  kind: Kind,
  { relations = [] }: Pick<RecordType, 'relations'>,
  record: JsonValue,
): readonly RelatedPerson[] {
  return relations.flatMap((relation) => {
    const recordType = kind.record_types.find(({ name }) => name === relation.record_type)
    return relation.paths.flatMap((path) =>
      at(path, record).flatMap((person) => [
        { relation, person, shown: person },
        ...(recordType === undefined ? [] : describedIn(kind, recordType, person)),
      ]),
    )
  })
}

/**
 * Those of whom something is left after a selection: what is left would be other without those of their relation.
 * @param shown what the selection was made of
 * @param text what it left
 */
export function leftBy(
  related: readonly RelatedPerson[],
  shown: JsonValue,
  text: string,
  textOf: (record: JsonValue) => string,
): readonly RelatedPerson[] {
  return [...Map.groupBy(related, ({ relation }) => relation).values()].flatMap((persons) => {
    const rest = without(shown, new Set(persons.map((person) => person.shown)))
    return textOf(rest) === text ? [] : persons
  })
}

/** The value without the objects that are named, which are found by what they are and not by what is in them. */
function without(value: JsonValue, objects: ReadonlySet<JsonValue>): JsonValue {
  const isLeft = (one: JsonValue): boolean => typeof one !== 'object' || !objects.has(one)
  if (Array.isArray(value)) return value.filter(isLeft).map((element) => without(element, objects))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (isLeft(member) ? [[name, without(member, objects)]] : [])),
  )
}
