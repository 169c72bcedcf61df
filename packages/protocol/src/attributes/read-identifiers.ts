/** Which identifiers a record holds, and whether they name the record or somebody in it. */
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
  /** The canonical name of its type, such as `UIN`; that of `UNLISTED` for all others. */
  readonly type: string
  /** Normalised. */
  readonly value: string
  /** `record`: it names the record itself. `part`: it names a person inside it, such as a household's member. */
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
 * Every identifier of `document`, normalised, each (type, value) once: as one of the record if it is both that and
 * a part's. Those of a type that the kind does not list are `UNLISTED`; those without a usable value are left out.
 */
export function readIdentifiers(
  kind: Kind,
  recordType: Pick<RecordType, 'identifiers'>,
  document: JsonValue,
  notes?: ReadingNotes,
): RecordIdentifier[] {
  return visitIdentifiers(kind, recordType, document, notes)
}

/** @param visit is called for each as it is first found, with what stands in the document */
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

/** As `readIdentifiers`; a bare value is given the type that is read there. */
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
    // What is used is a text or an integer.
    found.push({ ...identifier, written: { identifier_type, identifier_value: String(value) } })
  })
  return found
}

/** The type that an identifier object names, else the source's; `UNLISTED` where the kind does not know the name. */
export function identifierTypeOf(kind: Kind, source: IdentifierSource, leaf: JsonValue): IdentifierType | undefined {
  const named = isJsonObject(leaf) ? member(leaf, IDENTIFIER_TYPE) : undefined
  const spelling = named === undefined ? source.type : named
  return typeof spelling === 'string' ? (resolveIdentifierType(kind, spelling) ?? UNLISTED) : undefined
}

/**
 * The value of an identifier as it is compared, of a record or of a query: a string, or an integer by its digits.
 * Null for everything else, such as 0.5 and 1e21: a number that is not written as digits is no identifier.
 */
export function identifierValue(type: IdentifierType, raw: JsonValue | undefined): string | null {
  if (typeof raw === 'string') return normaliseIdentifier(type, raw)
  const digits = wholeDigits(raw)
  return digits === null ? null : normaliseIdentifier(type, digits)
}

/** Which identifier has none of the forms of its type, as a rule without the value; null: every one has. */
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
