/** Which attributes of a record type a grant shows, for people who read what a grant means. */
import { type RecordType, searchKey } from '@rollcall/protocol'
import type { Grant, Visible } from '../model/grant.ts'

/** Names of the attributes that are shown at one of their places at least. Of an age nothing is stored to show. */
export function shownAttributes(
  { visible }: Pick<Grant, 'visible'>,
  { name, attributes }: RecordType,
): readonly string[] {
  const tree = visible?.get(name)
  const stored = attributes.filter(({ type }) => type !== 'age')
  const shown =
    visible === null ? stored : stored.filter(({ paths }) => paths.some((path) => isShown(tree, path)))
  return shown.map((row) => row.name)
}

function isShown(tree: Visible | undefined, path: string): boolean {
  let part = tree
  for (const segment of path.split('.')) {
    if (part?.whole === true) return true
    part = part?.members.get(searchKey(segment))
  }
  return part?.whole === true || part?.value === true
}
