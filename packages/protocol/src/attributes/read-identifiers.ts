/** Reads the identifiers of a record, and whether each names the record or a person in it. */
import { isJsonObject, type JsonValue } from '../json.ts'
import { UNLISTED } from '../kinds/identifier-types.ts'
import { resolveIdentifierType } from '../kinds/index.ts'
import type { IdentifierSource, IdentifierType, Kind, RecordType } from '../kinds/kind.ts'
import { normaliseIdentifier } from '../kinds/normalisers.ts'
import { isOfForm } from '../kinds/value-pattern.ts'
import { wholeDigits } from '../numbers.ts'
import { isWritten, type ReadingNotes } from './read-attribute.ts'
import { compilePath, member, type Path, walk } from './walk.ts'

/** An identifier as it is stored and looked up. */
export interface RecordIdentifier {
  /** The canonical name of its type, such as `UIN`; the name of `UNLISTED` for types that the kind does not list. */
  readonly type: string
  /** Normalised. */
  readonly value: string
  /**
   * `record`: it names the record itself. `part`: it names a person within the record, such as a member of a household.
   */
  readonly names: IdentifierSource['names']
}

const [IDENTIFIER_TYPE, IDENTIFIER_VALUE] = [keyed('identifier_type'), keyed('identifier_value')]

function keyed(key: string) {
  return { key, spellings: [] }
}

const pathsOf = new WeakMap<IdentifierSource, Path>()

function compiledPath(source: IdentifierSource): Path {
  let path = pathsOf.get(source)
  if (path === undefined) {
    path = compilePath(source.path)
    pathsOf.set(source, path)
  }
  return path
}

/**
 * All identifiers of `document`, normalised, each (type, value) once: as one of the record if it is also one of a part.
 * Types that the kind does not list become `UNLISTED`; identifiers without a usable value are left out.
 */
export function readIdentifiers(
  kind: Kind,
  recordType: Pick<RecordType, 'identifiers'>,
  document: JsonValue,
  notes?: ReadingNotes,
): RecordIdentifier[] {
  return visitIdentifiers(kind, recordType, document, notes)
}

/** @param visit called with each identifier when it is first found, and its value in the document */
function visitIdentifiers(
  kind: Kind,
  recordType: Pick<RecordType, 'identifiers'>,
  document: JsonValue,
  notes?: ReadingNotes,
  visit?: (identifier: RecordIdentifier, leaf: JsonValue) => void,
): RecordIdentifier[] {
  const found = new Map<string, RecordIdentifier>()
  for (const source of recordType.identifiers) {
    walk(document, compiledPath(source), (leaf) => {
      const type = identifierTypeOf(kind, source, leaf)
      const raw = isJsonObject(leaf) ? member(leaf, IDENTIFIER_VALUE) : leaf
      const value = type === undefined ? null : identifierValue(type, raw)
      if (notes !== undefined && type !== undefined && value === null && raw !== undefined && isWritten(raw)) {
        notes.unusable(type, source.path)
      }
      if (type === undefined || value === null) return false
      const key = `${type.name}:${value}`
      if (found.has(key)) return false
      const identifier = { type: type.name, value, names: source.names }
      found.set(key, identifier)
      visit?.(identifier, leaf)
      return false
    })
  }
  return [...found.values()]
}

/** An identifier of a document, with its type and value as the document writes them. */
export interface WrittenIdentifier extends RecordIdentifier {
  readonly written: { readonly identifier_type: string; readonly identifier_value: string }
}

/** Like `readIdentifiers`. A bare value gets the type of its place. */
export function writtenIdentifiers(
  kind: Kind,
  recordType: Pick<RecordType, 'identifiers'>,
  document: JsonValue,
): readonly WrittenIdentifier[] {
  const found: WrittenIdentifier[] = []
  visitIdentifiers(kind, recordType, document, undefined, (identifier, leaf) => {
    const isObject = isJsonObject(leaf)
    const type = isObject ? member(leaf, IDENTIFIER_TYPE) : undefined
    const value = isObject ? member(leaf, IDENTIFIER_VALUE) : leaf
    const identifier_type = typeof type === 'string' ? type : identifier.type
    // A usable value is a text or an integer.
    found.push({ ...identifier, written: { identifier_type, identifier_value: String(value) } })
  })
  return found
}

/** The type that an identifier object names, else `source.type`; `UNLISTED` where the kind does not know the name. */
export function identifierTypeOf(kind: Kind, source: IdentifierSource, leaf: JsonValue): IdentifierType | undefined {
  const named = isJsonObject(leaf) ? member(leaf, IDENTIFIER_TYPE) : undefined
  const spelling = named === undefined ? source.type : named
  return typeof spelling === 'string' ? (resolveIdentifierType(kind, spelling) ?? UNLISTED) : undefined
}

/**
 * The normalised value of an identifier in a record or query: a string, or the digits of an integer. Null for
 * everything else, such as 0.5 and 1e21, which are not written as digits.
 */
export function identifierValue(type: IdentifierType, raw: JsonValue | undefined): string | null {
  if (typeof raw === 'string') return normaliseIdentifier(type, raw)
  const digits = wholeDigits(raw)
  return digits === null ? null : normaliseIdentifier(type, digits)
}

/**
 * The rule that an identifier breaks if it has none of the forms of its type, without the value; null: all have one.
 */
export function formProblem(
  kind: Kind,
  identifiers: readonly Pick<RecordIdentifier, 'type' | 'value'>[],
): string | null {
  for (const { type: name, value } of identifiers) {
    const type = kind.identifier_types.find((one) => one.name === name)
    if (type?.patterns === undefined || isOfForm(type, value)) continue
    return `${name}: must be of the form ${type.patterns.join(' or ')}`
  }
  return null
}
