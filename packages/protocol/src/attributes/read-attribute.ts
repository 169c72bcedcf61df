/** The only extraction of attributes from records, for columns of the database and for filters in memory. */
import { isJsonObject, type JsonValue } from '../json.ts'
import type { Attribute, IdentifierType } from '../kinds/kind.ts'
import { isListed } from '../records/code-lists.ts'
import { ATTRIBUTE_TYPES, type AttributeScalar, type AttributeValue } from './attribute-types.ts'
import { compilePath, type Path, walk } from './walk.ts'

/** Receives what the extraction finds and cannot use. It never changes the result. */
export interface ReadingNotes {
  /** The value at a path of the attribute cannot be read as its type. */
  unread(attribute: Attribute, path: string): void
  /** A code is not in its list; it is kept as it is. */
  unlisted(attribute: Attribute): void
  /** An attribute of a list's elements has a value in an element. */
  readMember(attribute: Attribute): void
  /** The value at a path of identifiers is not usable for the type. */
  unusable(type: IdentifierType, path: string): void
}

/** Something that is neither an object, of which another path may read a member, nor blank. */
export const isWritten = (leaf: JsonValue): boolean =>
  !isJsonObject(leaf) && (typeof leaf !== 'string' || leaf.trim() !== '')

/** The paths of an attribute, split when it is first read. */
const pathsOf = new WeakMap<Attribute, readonly Path[]>()

function compiledPaths(attribute: Attribute): readonly Path[] {
  let paths = pathsOf.get(attribute)
  if (paths === undefined) {
    paths = attribute.paths.map(compilePath)
    pathsOf.set(attribute, paths)
  }
  return paths
}

/**
 * The canonical value of the attribute in `document` (see AttributeScalar), from the first of its paths that has one.
 * With `many`, the list of all values there. Null when there is none: absent, null, "", or not readable as the
 * attribute's type. Never throws; the time is at most proportional to the document.
 */
export function readAttribute(attribute: Attribute, document: JsonValue, notes?: ReadingNotes): AttributeValue | null {
  const read = ATTRIBUTE_TYPES[attribute.type]
  const values: AttributeScalar[] = []
  const { codes } = attribute
  let place = 0
  const visit = (leaf: JsonValue): boolean => {
    const value = read(leaf, attribute)
    if (value === null) {
      if (notes !== undefined && isWritten(leaf)) notes.unread(attribute, attribute.paths[place] ?? '')
      return false
    }
    if (notes !== undefined && codes !== undefined && !isListed(codes, value)) notes.unlisted(attribute)
    values.push(value)
    return attribute.many !== true
  }
  for (const path of compiledPaths(attribute)) {
    walk(document, path, visit)
    if (values.length > 0) break
    place += 1
  }
  return attribute.many === true && values.length > 0 ? values : (values[0] ?? null)
}
