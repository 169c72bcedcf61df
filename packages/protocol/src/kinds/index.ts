/** All kinds, and functions that resolve the names in a message. */
import { namesOf, searchKey } from '../attributes/record-keys.ts'
import { civil } from './civil.ts'
import { disability } from './disability.ts'
import { ess } from './ess.ts'
import { farmer } from './farmer.ts'
import { ibr } from './ibr.ts'
import type { Attribute, EventType, IdentifierType, Kind, RecordType } from './kind.ts'
import { findMeaningOfQueryName } from './query-keys.ts'
import { social } from './social.ts'

/** The kinds that this version has. */
export const KINDS: readonly Kind[] = [civil, ibr, ess, social, disability, farmer]

/** The kind with exactly this name, such as `civil`; undefined when there is none. */
export function kindNamed(name: string): Kind | undefined {
  return KINDS.find((kind) => kind.name === name)
}

/** The record type for a name in `reg_record_type` or `response_entity`, such as `spdci-extensions-dci:Person`. */
export function resolveRecordType(kind: Kind, spelling: string): RecordType | undefined {
  return findDefinitionByName(kind.record_types, spelling, (type) => [type.name, type.emitted, ...type.aliases])
}

/** The identifier type for a name in a query or a record, such as BRN for `BIRTH_REG_NO`. */
export function resolveIdentifierType(kind: Kind, spelling: string): IdentifierType | undefined {
  return findDefinitionByName(kind.identifier_types, spelling, namesOf)
}

/** The event type for a name in `reg_event_type`, such as LiveBirth for `...:RegistryEventType:live_birth`. */
export function resolveEventType(kind: Kind, spelling: string): EventType | undefined {
  return findDefinitionByName(kind.event_types, spelling, (type) => [type.name, ...type.aliases])
}

/** True when a search may have this `reg_event_type`: an event type of the kind, or one of its `search_event_types`. */
export function isSearchEventType(kind: Kind, spelling: string): boolean {
  const key = nameComparisonKey(spelling)
  const others = kind.search_event_types ?? []
  return resolveEventType(kind, spelling) !== undefined || others.some((name) => nameComparisonKey(name) === key)
}

/** The attribute for a name in a sort or query: its name, an alias, or one of its paths. */
export function resolveAttribute(recordType: RecordType, spelling: string): Attribute | undefined {
  const spellings = (attribute: Attribute) => [...namesOf(attribute), ...attribute.paths]
  const find = (key: string) => findDefinitionByName(recordType.attributes, key, spellings, searchKey)
  return findMeaningOfQueryName(recordType, spelling, find)
}

/** True when a `reg_type` names this kind (D32). */
export function isRegType(kind: Kind, spelling: string): boolean {
  const key = nameComparisonKey(spelling)
  return [kind.reg_type.name, ...kind.reg_type.aliases].some((name) => nameComparisonKey(name) === key)
}

/**
 * The record types that the document's `@type` may mean; the first one of the kind when the document has no `@type`. Empty when
 * the kind does not know the type; several when the type is ambiguous.
 */
export function recordTypesOf(kind: Kind, document: unknown): readonly RecordType[] {
  const types = documentTypes(document).map(nameComparisonKey)
  if (types.length === 0) return [kind.record_types[0]]
  return kind.record_types.filter((type) => type.document_types.some((name) => types.includes(nameComparisonKey(name))))
}

/** The types of a document. JSON-LD allows one, or an array of them. */
function documentTypes(document: unknown): string[] {
  if (typeof document !== 'object' || document === null || !Object.hasOwn(document, '@type')) return []
  const type = (document as { '@type': unknown })['@type']
  return (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string' && name !== '')
}

/** The form of a name for comparing: the text after the last ":", without case. */
function nameComparisonKey(name: string): string {
  return name
    .slice(name.lastIndexOf(':') + 1)
    .trim()
    .toLowerCase()
}

/**
 * For each array of definitions, such as the record types of a kind: its elements by name, made at first use. If two have the
 * same name, the first is used.
 */
const cachedDefinitionsByName = new WeakMap<readonly object[], ReadonlyMap<string, object>>()

/** The element of `rows` with this name in any of its spellings; undefined when there is none. */
function findDefinitionByName<Row extends object>(
  rows: readonly Row[],
  name: string,
  spellingsOf: (row: Row) => readonly string[],
  keyOf: (spelling: string) => string = nameComparisonKey,
): Row | undefined {
  let table = cachedDefinitionsByName.get(rows) as ReadonlyMap<string, Row> | undefined
  if (table === undefined) {
    const made = new Map<string, Row>()
    for (const row of rows) {
      for (const key of spellingsOf(row).map(keyOf)) if (!made.has(key)) made.set(key, row)
    }
    cachedDefinitionsByName.set(rows, made)
    table = made
  }
  return table.get(keyOf(name))
}
