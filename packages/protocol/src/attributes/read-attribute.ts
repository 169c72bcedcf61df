/** Reads attributes from records. Columns of the database and filters in memory both use this code. */
import { isJsonObject, type JsonValue } from '../json.ts'
import type { Attribute, IdentifierType } from '../kinds/kind.ts'
import { oncePerObject } from '../once-per.ts'
import { isListedCode } from '../records/code-lists.ts'
import { type AttributeScalar, type AttributeValue, SCALAR_READERS } from './attribute-types.ts'
import { type CompiledPath, compilePath, visitValuesAt } from './walk.ts'

/** Functions that are called while values are read, mostly for values that cannot be used. They do not change the result. */
export interface ReadingNotes {
  /** Called when the value at this path cannot be read as the attribute's type. */
  unread(attribute: Attribute, path: string): void
  /** Called when a code is not in the attribute's code list. The code is used as it is. */
  unlisted(attribute: Attribute): void
  /** Called when this member of a compound has a value, in an element or at its `record_paths`. */
  readMember(attribute: Attribute): void
  /** Called when a value at this path cannot be used as an identifier of this type. */
  unusable(type: IdentifierType, path: string): void
}

/** True for a number, a boolean, a list, and a text that has more than white space. Callers never pass null. */
export const isNonBlankNonObject = (leaf: JsonValue): boolean =>
  !isJsonObject(leaf) && (typeof leaf !== 'string' || leaf.trim() !== '')

/** The split paths of each attribute, made at its first use. */
const compiledPathsOf = oncePerObject(({ paths }: Attribute): readonly CompiledPath[] => paths.map(compilePath))

/**
 * The canonical value of an attribute in `document`, from the first of its paths that has one; with `many`, the list of
 * all values there. Null when there is none, or it cannot be read as the attribute's type. Never throws; the time is at
 * most proportional to the length of the document.
 */
export function readAttribute(attribute: Attribute, document: JsonValue, notes?: ReadingNotes): AttributeValue | null {
  const read = SCALAR_READERS[attribute.type]
  const values: AttributeScalar[] = []
  const { codes } = attribute
  let place = 0
  const visit = (leaf: JsonValue): boolean => {
    const value = read(leaf, attribute)
    if (value === null) {
      if (notes !== undefined && isNonBlankNonObject(leaf)) notes.unread(attribute, attribute.paths[place] ?? '')
      return false
    }
    if (notes !== undefined && codes !== undefined && !isListedCode(codes, value)) notes.unlisted(attribute)
    values.push(value)
    return attribute.many !== true
  }
  for (const path of compiledPathsOf(attribute)) {
    visitValuesAt(document, path, visit)
    if (values.length > 0) break
    place += 1
  }
  return attribute.many === true && values.length > 0 ? values : (values[0] ?? null)
}
