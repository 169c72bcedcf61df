/** Every kind, and how the names that a message uses are understood. */
import { namesOf, searchKey } from '../attributes/record-keys.ts'
import { civil } from './civil.ts'
import { disability } from './disability.ts'
import { ess } from './ess.ts'
import { farmer } from './farmer.ts'
import { ibr } from './ibr.ts'
import type { Attribute, EventType, IdentifierType, Kind, RecordType } from './kind.ts'
import { queryKeys } from './query-keys.ts'
import { social } from './social.ts'

export const KINDS: readonly Kind[] = [civil, ibr, ess, social, disability, farmer]

/** The kind of this name, such as `civil`; exactly as it is written in configuration and on the command line. */
export function kindNamed(name: string): Kind | undefined {
  return KINDS.find((kind) => kind.name === name)
}

/** The record type that a `reg_record_type` or `response_entity` means, such as `spdci-extensions-dci:Person`. */
export function resolveRecordType(kind: Kind, spelling: string): RecordType | undefined {
  return named(kind.record_types, spelling, (type) => [type.name, type.emitted, ...type.aliases])
}

/** The identifier type that a query or a record means, such as BRN by `BIRTH_REG_NO`. */
export function resolveIdentifierType(kind: Kind, spelling: string): IdentifierType | undefined {
  return named(kind.identifier_types, spelling, namesOf)
}

/** The event type that a `reg_event_type` means, such as LiveBirth by `...:RegistryEventType:live_birth`. */
export function resolveEventType(kind: Kind, spelling: string): EventType | undefined {
  return named(kind.event_types, spelling, (type) => [type.name, ...type.aliases])
}

/** Whether a search may have this `reg_event_type`: an event type, or a value that published searches have. */
export function isSearchEventType(kind: Kind, spelling: string): boolean {
  const key = nameKey(spelling)
  const others = kind.search_event_types ?? []
  return resolveEventType(kind, spelling) !== undefined || others.some((name) => nameKey(name) === key)
}

/** The attribute that a sort or a query means: by its name, an alias, or one of its paths. */
export function resolveAttribute(recordType: RecordType, spelling: string): Attribute | undefined {
  const spellings = (attribute: Attribute) => [...namesOf(attribute), ...attribute.paths]
  return queryKeys(recordType, spelling)
    .map((key) => named(recordType.attributes, key, spellings, searchKey))
    .find((attribute) => attribute !== undefined)
}

/** Whether a `reg_type` means this kind (D32). */
export function isRegType(kind: Kind, spelling: string): boolean {
  const key = nameKey(spelling)
  return [kind.reg_type.name, ...kind.reg_type.aliases].some((name) => nameKey(name) === key)
}

/**
 * The record types that a document may be of, by its own `@type`; the kind's default when it has none. None:
 * its type is foreign to the kind. Several: it does not tell.
 */
export function recordTypesOf(kind: Kind, document: unknown): readonly RecordType[] {
  const types = documentTypes(document).map(nameKey)
  if (types.length === 0) return [kind.record_types[0]]
  return kind.record_types.filter((type) => type.document_types.some((name) => types.includes(nameKey(name))))
}

/** JSON-LD allows one type or an array of them. */
function documentTypes(document: unknown): string[] {
  if (typeof document !== 'object' || document === null || !Object.hasOwn(document, '@type')) return []
  const type = (document as { '@type': unknown })['@type']
  return (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string' && name !== '')
}

/** Names compare by the text after the last ":", without regard to case. */
function nameKey(name: string): string {
  return name
    .slice(name.lastIndexOf(':') + 1)
    .trim()
    .toLowerCase()
}

/** One table of keys for each list of rows, made when it is first asked. Where two rows share a key, the first has it. */
const tables = new WeakMap<readonly object[], ReadonlyMap<string, object>>()

function named<Row extends object>(
  rows: readonly Row[],
  name: string,
  spellingsOf: (row: Row) => readonly string[],
  keyOf: (spelling: string) => string = nameKey,
): Row | undefined {
  let table = tables.get(rows) as ReadonlyMap<string, Row> | undefined
  if (table === undefined) {
    const made = new Map<string, Row>()
    for (const row of rows) {
      for (const key of spellingsOf(row).map(keyOf)) if (!made.has(key)) made.set(key, row)
    }
    tables.set(rows, made)
    table = made
  }
  return table.get(keyOf(name))
}
