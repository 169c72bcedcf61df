/** Turns a document into the stored form: canonical text, identifiers, and a value for every column. */
import { oncePerObject } from '@rollcall/core/model/once-per'
import {
  type Attribute,
  type Compound,
  canonicalJson,
  formProblem,
  type JsonValue,
  type Kind,
  type ReadingNotes,
  type RecordIdentifier,
  type RecordType,
  readAttribute,
  readElements,
  readIdentifiers,
  sortedIdentifiers,
} from '@rollcall/protocol'
import { attributeColumns, compoundColumn } from './columns.ts'

/** Thrown when a document cannot be stored as a record. The reason names members and rules, never values. */
export class InvalidRecord extends Error {
  override readonly name = 'InvalidRecord'
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}

/** A record ready to be written. */
export interface PreparedRecord {
  /** The normalised value of the record type's primary identifier. */
  readonly primary_identifier: string
  /** The document as canonical JSON (RFC 8785). An answer has this document, or the parts of it that a grant shows. */
  readonly document: string
  /** All identifiers, the primary one included; each pair of type and value once. */
  readonly identifiers: readonly RecordIdentifier[]
  /** The values as PostgreSQL's text input, in the order of `RecordTable.columns`. */
  readonly columns: readonly (string | null)[]
}

/**
 * Turns a document into a record to be stored. A search in memory reads documents by the same code.
 * @param notes collects the values that are not understood
 * @throws InvalidRecord
 */
export function prepareRecord(kind: Kind, recordType: RecordType, document: JsonValue, notes?: ReadingNotes): PreparedRecord {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new InvalidRecord('a record is a JSON object')
  }
  const text = canonicalJsonRefusingNul(document)
  // All values are read before the record may be refused for its identifiers, so that the notes are complete.
  const columns = attributeAndCompoundValues(recordType, document, notes)
  const identifiers = readIdentifiers(kind, recordType, document, notes)
  const [primary, another] = identifiers.filter(({ type, names }) => type === recordType.primary_identifier && names === 'record')
  if (primary === undefined) {
    throw new InvalidRecord(`no usable ${recordType.primary_identifier}, by which a ${recordType.name} is known`)
  }
  if (another !== undefined) {
    throw new InvalidRecord(`more than one ${recordType.primary_identifier}, by which a ${recordType.name} is known`)
  }
  columns.push(...identifierSortValues(recordType, identifiers))
  return { primary_identifier: primary.value, document: text, identifiers, columns }
}

/**
 * Prepares a document that comes from outside, with more checks than `prepareRecord`.
 * @throws InvalidRecord also for an identifier whose form the operator does not allow, or that a spreadsheet has shortened
 */
export function prepareExternalRecord(
  kind: Kind,
  recordType: RecordType,
  document: JsonValue,
  notes?: ReadingNotes,
): PreparedRecord {
  const prepared = prepareRecord(kind, recordType, document, notes)
  const problem = shortenedNumberProblem(prepared.identifiers) ?? formProblem(kind, prepared.identifiers)
  if (problem !== null) throw new InvalidRecord(problem)
  return prepared
}

/** Matches a long number that a spreadsheet has shortened, such as 8.1E+09: its last digits are lost. */
const SHORTENED_NUMBER_PATTERN = /^\d([.,]\d+)?[eE][+-]\d+$/

function shortenedNumberProblem(identifiers: readonly RecordIdentifier[]): string | null {
  const mangled = identifiers.find(({ value }) => SHORTENED_NUMBER_PATTERN.test(value))
  return mangled === undefined
    ? null
    : `${mangled.type}: a spreadsheet has shortened the number to a form such as 8.1E+09; format its column as text and export the file again`
}

/**
 * The values of a document for the columns of its record type, in order.
 * @param identifiers the identifiers of the document
 */
export function columnValues(
  recordType: RecordType,
  document: JsonValue,
  identifiers: readonly RecordIdentifier[],
): (string | null)[] {
  return [...attributeAndCompoundValues(recordType, document), ...identifierSortValues(recordType, identifiers)]
}

function identifierSortValues(recordType: RecordType, identifiers: readonly RecordIdentifier[]): (string | null)[] {
  return sortedIdentifiers(recordType).map((wanted) => {
    const own = identifiers.filter(({ type, names }) => type === wanted && names === 'record')
    return own.map(({ value }) => value).sort()[0] ?? null
  })
}

function attributeAndCompoundValues(recordType: RecordType, document: JsonValue, notes?: ReadingNotes): (string | null)[] {
  const values: (string | null)[] = []
  for (const read of valueReadersOf(recordType)) read(document, values, notes)
  return values
}

/** Reads one attribute or compound of a document, and appends its column values to `values`. */
type ValueReader = (document: JsonValue, values: (string | null)[], notes?: ReadingNotes) => void

const valueReadersOf = oncePerObject(({ attributes, compounds = [] }: RecordType): readonly ValueReader[] => [
  ...attributes.map(attributeReader),
  ...compounds.map(compoundReader),
])

function attributeReader(attribute: Attribute): ValueReader {
  const columns = attributeColumns(attribute)
  return (document, values, notes) => {
    const value = readAttribute(attribute, document, notes)
    for (const column of columns) values.push(column.toSql(value))
  }
}

function compoundReader(compound: Compound): ValueReader {
  const column = compoundColumn(compound)
  return (document, values, notes) => {
    values.push(column.toSql(readElements(compound, document, notes)))
  }
}

function canonicalJsonRefusingNul(document: JsonValue): string {
  const text = toCanonicalJson(document)
  // A text with NUL is refused: no text column can have it, and many receivers cannot read it.
  if (text.includes('\\u0000') && ESCAPED_NUL_PATTERN.test(text)) {
    throw new InvalidRecord('the document has a NUL character, which no column can hold')
  }
  return text
}

/** Matches the escape `\u0000` in JSON, but not `\\u0000`, which is an escaped backslash and the plain text `u0000`. */
const ESCAPED_NUL_PATTERN = /(?<!\\)(?:\\\\)*\\u0000/

function toCanonicalJson(document: JsonValue): string {
  try {
    return joinTextPiecesInMemory(canonicalJson(document))
  } catch {
    throw new InvalidRecord('the document cannot be written as canonical JSON (RFC 8785)')
  }
}

/**
 * Makes the JavaScript engine store a concatenated text as one piece. Otherwise the engine keeps a tree of pieces, six
 * times as large, in memory for a whole batch of records.
 */
function joinTextPiecesInMemory(text: string): string {
  text.indexOf('\n')
  return text
}
