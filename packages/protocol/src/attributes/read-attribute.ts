/** The one extraction: what a record has under a searchable attribute, for its columns and for filters in memory alike. */
import type { JsonValue } from '../json.ts'
import type { Attribute } from '../kinds/kind.ts'
import { ATTRIBUTE_TYPES, type AttributeScalar, type AttributeValue } from './attribute-types.ts'
import { compilePath, type Path, walk } from './walk.ts'

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
 * The attribute's value in `document`, canonical (see AttributeScalar): from the first of its paths that has one.
 * With `many` it is the list of all values there. Null where there is none: absent, null, "", or nothing that the
 * attribute's type can read. Never throws, and takes time in proportion to the document at most.
 */
export function readAttribute(attribute: Attribute, document: JsonValue): AttributeValue | null {
  const read = ATTRIBUTE_TYPES[attribute.type]
  const values: AttributeScalar[] = []
  const visit = (leaf: JsonValue): boolean => {
    const value = read(leaf, attribute)
    if (value === null) return false
    values.push(value)
    return attribute.many !== true
  }
  for (const path of compiledPaths(attribute)) {
    walk(document, path, visit)
    if (values.length > 0) break
  }
  return attribute.many === true && values.length > 0 ? values : (values[0] ?? null)
}
