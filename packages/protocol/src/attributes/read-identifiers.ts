/** Reads the identifiers of a record, and whether each names the record or a person in it. */
import { isJsonObject, type JsonValue } from '../json.ts'
import { UNLISTED } from '../kinds/identifier-types.ts'
import { resolveIdentifierType } from '../kinds/index.ts'
import type { IdentifierSource, IdentifierType, Kind, RecordType } from '../kinds/kind.ts'
import { normaliseIdentifier } from '../kinds/normalisers.ts'
import { isOfForm } from '../kinds/value-pattern.ts'
import { integerText } from '../numbers.ts'
import { oncePerObject } from '../once-per.ts'
import { isNonBlankNonObject, type ReadingNotes } from './read-attribute.ts'
import { type CompiledPath, compilePath, readMemberByStep, visitValuesAt } from './walk.ts'

/** An identifier of a record, in the normalised form that is stored and searched. */
export interface RecordIdentifier {
  /** The canonical name of the type, such as `UIN`; the name of `UNLISTED` for a type that the kind does not list. */
  readonly type: string
  /** The value as the normaliser of the identifier type writes it. */
  readonly value: string
  /** `record`: it names the record itself. `part`: it names a person in the record, such as a member of a household. */
  readonly names: IdentifierSource['names']
}

const [IDENTIFIER_TYPE, IDENTIFIER_VALUE] = [
  makeNameStepWithoutSpellings('identifier_type'),
  makeNameStepWithoutSpellings('identifier_value'),
]

/** Makes a step for `readMemberByStep`. The member has no spellings besides `key`. */
function makeNameStepWithoutSpellings(key: string) {
  return { key, spellings: [] }
}

const compiledPathOf = oncePerObject(({ path }: IdentifierSource): CompiledPath => compilePath(path))

/**
 * Reads the identifiers at the places that the record type lists, normalised, each once. `names` is that of the first listed
 * place that has the identifier. A type that the kind does not list becomes `UNLISTED`. An identifier without a type, or whose
 * value cannot be normalised, is left out.
 */
export function readIdentifiers(
  kind: Kind,
  recordType: Pick<RecordType, 'identifiers'>,
  document: JsonValue,
  notes?: ReadingNotes,
): RecordIdentifier[] {
  return visitIdentifiers(kind, recordType, document, notes)
}

/** Reads identifiers for `readIdentifiers`. Calls `visit` with each, and the value or object at its first place. */
function visitIdentifiers(
  kind: Kind,
  recordType: Pick<RecordType, 'identifiers'>,
  document: JsonValue,
  notes?: ReadingNotes,
  visit?: (identifier: RecordIdentifier, leaf: JsonValue) => void,
): RecordIdentifier[] {
  const found = new Map<string, RecordIdentifier>()
  for (const source of recordType.identifiers) {
    visitValuesAt(document, compiledPathOf(source), (leaf) => {
      const type = identifierTypeOf(kind, source, leaf)
      const raw = isJsonObject(leaf) ? readMemberByStep(leaf, IDENTIFIER_VALUE) : leaf
      const value = type === undefined ? null : identifierValue(type, raw)
      if (notes !== undefined && type !== undefined && value === null && raw !== undefined && isNonBlankNonObject(raw)) {
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

/** An identifier, with its type and value also as the document writes them. */
export interface WrittenIdentifier extends RecordIdentifier {
  readonly written: { readonly identifier_type: string; readonly identifier_value: string }
}

/** Reads identifiers like `readIdentifiers`, also as written. One without a written type gets the type of its place. */
export function writtenIdentifiers(
  kind: Kind,
  recordType: Pick<RecordType, 'identifiers'>,
  document: JsonValue,
): readonly WrittenIdentifier[] {
  const found: WrittenIdentifier[] = []
  visitIdentifiers(kind, recordType, document, undefined, (identifier, leaf) => {
    const isObject = isJsonObject(leaf)
    const type = isObject ? readMemberByStep(leaf, IDENTIFIER_TYPE) : undefined
    const value = isObject ? readMemberByStep(leaf, IDENTIFIER_VALUE) : leaf
    const identifier_type = typeof type === 'string' ? type : identifier.type
    // A usable value is a text or an integer, so it can be written as text.
    found.push({ ...identifier, written: { identifier_type, identifier_value: String(value) } })
  })
  return found
}

/** The type that an identifier object names, else that of its place: `UNLISTED` if the kind lacks it, undefined if none. */
export function identifierTypeOf(kind: Kind, source: IdentifierSource, leaf: JsonValue): IdentifierType | undefined {
  const named = isJsonObject(leaf) ? readMemberByStep(leaf, IDENTIFIER_TYPE) : undefined
  const spelling = named === undefined ? source.type : named
  return typeof spelling === 'string' ? (resolveIdentifierType(kind, spelling) ?? UNLISTED) : undefined
}

/** The normalised value of an identifier: a text, or the digits of an integer. Null for unusable values, such as 0.5. */
export function identifierValue(type: IdentifierType, raw: JsonValue | undefined): string | null {
  if (typeof raw === 'string') return normaliseIdentifier(type, raw)
  const digits = integerText(raw)
  return digits === null ? null : normaliseIdentifier(type, digits)
}

/**
 * Finds the first identifier whose value has none of the forms that its type allows. Returns the rule for these forms, without
 * the value; null when there is no such identifier.
 */
export function formProblem(kind: Kind, identifiers: readonly Pick<RecordIdentifier, 'type' | 'value'>[]): string | null {
  for (const { type: name, value } of identifiers) {
    const type = kind.identifier_types.find((one) => one.name === name)
    if (type?.patterns === undefined || isOfForm(type, value)) continue
    return `${name}: must be of the form ${type.patterns.join(' or ')}`
  }
  return null
}
