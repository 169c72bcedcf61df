/** Finds the attributes and identifiers of a record type that a grant shows. */
import { type RecordType, searchKey } from '@rollcall/protocol'
import type { Grant, VisibleTreeNode } from '../model/grant.ts'

/** The names of attributes that the grant shows in at least one place. Ages are not stored, so never shown. */
export function shownAttributes({ visible }: Pick<Grant, 'visible'>, { name, attributes }: RecordType): readonly string[] {
  const tree = visible?.get(name)
  const stored = attributes.filter(({ type }) => type !== 'age')
  const shown = visible === null ? stored : stored.filter(({ paths }) => paths.some((path) => isPathShown(tree, path)))
  return shown.map((row) => row.name)
}

/** True when the grant always shows `wanted`: an attribute in all its places, or all own identifiers of a type. */
export function isAlwaysShownByGrant(
  { visible }: Pick<Grant, 'visible'>,
  { name, attributes, identifiers, primary_identifier }: RecordType,
  wanted: string,
): boolean {
  if (visible === null) return true
  const tree = visible.get(name)
  const attribute = attributes.find((row) => row.name === wanted)
  if (attribute !== undefined) return attribute.paths.every((path) => isPathShown(tree, path))
  const sources = identifiers.filter(
    ({ names, type }) => names === 'record' && (type === undefined || [wanted, primary_identifier].includes(type)),
  )
  return sources.every(({ path }) => findVisiblePart(tree, path)?.identifiers.some((source) => source.path === path))
}

const isPathShown = (tree: VisibleTreeNode | undefined, path: string): boolean => {
  const part = findVisiblePart(tree, path)
  return part?.whole === true || part?.value === true
}

/** The node of the tree at a path, or a node above it that is shown whole. */
function findVisiblePart(tree: VisibleTreeNode | undefined, path: string): VisibleTreeNode | undefined {
  let part = tree
  for (const segment of path.split('.')) {
    if (part?.whole === true) return part
    part = part?.members.get(searchKey(segment))
  }
  return part
}
