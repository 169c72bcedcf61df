/**
 * The rules by which an attribute, a list or identifiers are read from records, as data. When they have changed, stored
 * values must be read again before a query may use them.
 */
import type { JsonObject } from '../json.ts'
import type { Attribute, Compound, Kind, RecordType } from '../kinds/kind.ts'
import { CODE_LISTS } from '../records/code-lists.ts'
import { READER_VERSIONS } from './attribute-types.ts'
import { otherKeys } from './record-keys.ts'

/** The version of `readElements`. Raise this number when `readElements` reads a document differently. */
const ELEMENT_READER_VERSION = 1
/** The version of `readIdentifiers` and the normalisers. Raise it when one of them reads a value differently. */
const IDENTIFIER_READER_VERSION = 3

/** Returns, as data, the rules by which `readAttribute` reads an attribute. */
export function attributeRules({ type, codes, fold, many, paths }: Attribute): JsonObject {
  return {
    type,
    version: READER_VERSIONS[type],
    ...(codes !== undefined && { codes: JSON.parse(JSON.stringify(CODE_LISTS[codes])) }),
    ...(fold && { fold }),
    ...(many && { many }),
    paths: paths.map(pathWithNameSpellings),
  }
}

/** Returns, as data, the rules by which `readElements` reads the elements of a compound. */
export function compoundRules({ paths, members }: Compound): JsonObject {
  return {
    version: ELEMENT_READER_VERSION,
    paths: paths.map(pathWithNameSpellings),
    members: members.map((member) => ({
      ...attributeRules(member),
      name: member.name,
      record_paths: (member.record_paths ?? []).map(pathWithNameSpellings),
    })),
  }
}

/** Returns, as data, the rules by which `readIdentifiers` reads the identifiers of a record type. */
export function identifierRules(kind: Kind, { identifiers }: RecordType): JsonObject {
  return {
    version: IDENTIFIER_READER_VERSION,
    types: kind.identifier_types.map(({ name, aliases = [], normaliser }) => [name, normaliser, ...aliases]),
    sources: identifiers.map(({ path, type = '', names }) => [pathWithNameSpellings(path), type, names]),
  }
}

/** The path, with all spellings of each name in it. */
function pathWithNameSpellings(path: string): string {
  return path
    .split('.')
    .map((key) => [key, ...otherKeys(key)].join('|'))
    .join('.')
}
