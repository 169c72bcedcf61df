/**
 * Which column of a table goes where in a document: `{"Given name": "name.given_name", "No": "identifier[UIN]"}`.
 * A path names members, separated by dots. `identifier[UIN]` adds an identifier of that type to the array
 * `identifier`.
 */
import type { JsonValue } from '@rollcall/protocol'
import { ImportError } from './source.ts'

interface Target {
  readonly column: string
  readonly members: readonly string[]
  /** Set when an identifier object is added to the array at `members`. */
  readonly identifier_type: string | null
}

/** A checked mapping. */
export interface ColumnMapping {
  readonly targets: readonly Target[]
}

const PATH = /^([^.[\]]+(?:\.[^.[\]]+)*)(?:\[([^.[\]]+)\])?$/

/**
 * Checks a mapping as it was given.
 * @throws ImportError that names the column and what is wrong with its path
 */
export function readColumnMapping(given: unknown): ColumnMapping {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new ImportError(
      'the column mapping must be a JSON object such as {"Given name": "name.given_name"}',
    )
  }
  const targets = Object.entries(given).map(([column, path]) => readTarget(column, path))
  if (targets.length === 0) throw new ImportError('the column mapping is empty; name at least one column')
  for (const [index, target] of targets.entries()) {
    const rival = targets.slice(0, index).find((other) => collides(target, other))
    if (rival) {
      throw new ImportError(
        `the column mapping has the same path for ${rival.column} and ${target.column}, or one path inside the other`,
      )
    }
  }
  return { targets }
}

function readTarget(column: string, path: unknown): Target {
  const match = typeof path === 'string' ? PATH.exec(path) : null
  const members = match?.[1]?.split('.')
  if (!members || members.includes('__proto__')) {
    throw new ImportError(
      `the column mapping of ${column} must be a path such as name.given_name or identifier[UIN]`,
    )
  }
  return { column, members, identifier_type: match?.[2] ?? null }
}

/** One would overwrite the other; several identifiers go into one array. */
function collides(one: Target, other: Target): boolean {
  const shared = Math.min(one.members.length, other.members.length)
  if (one.members.slice(0, shared).join('.') !== other.members.slice(0, shared).join('.')) return false
  const same = one.members.length === other.members.length
  return !(same && one.identifier_type !== null && other.identifier_type !== null)
}

/**
 * How rows under this header become documents. Empty cells are missing members; all values are text.
 * @throws ImportError when a mapped column is not in the header, or twice
 */
export function documentBuilder(
  mapping: ColumnMapping,
  header: readonly string[],
): (cells: readonly string[]) => JsonValue {
  const names = header.map((name) => name.trim())
  const placed = mapping.targets.map((target) => {
    const index = names.indexOf(target.column.trim())
    if (index === -1)
      throw new ImportError(
        `the file has no column ${target.column}, which the column mapping names; compare it with the header line`,
      )
    if (names.lastIndexOf(target.column.trim()) !== index) {
      throw new ImportError(
        `the file has more than one column ${target.column}; rename the others in its header line`,
      )
    }
    return { target, index }
  })
  return (cells) => {
    const document: Members = {}
    for (const { target, index } of placed) {
      const cell = cells[index] ?? ''
      if (cell.trim() !== '') put(document, target, cell)
    }
    return document
  }
}

type Members = { [member: string]: JsonValue }

function put(document: Members, { members, identifier_type }: Target, cell: string): void {
  let parent = document
  for (const member of members.slice(0, -1)) {
    // Own members only: a column may be called `constructor`. The mapping has no two targets that collide.
    if (!Object.hasOwn(parent, member)) parent[member] = {}
    parent = parent[member] as Members
  }
  const last = members.at(-1) ?? ''
  if (identifier_type === null) {
    parent[last] = cell
    return
  }
  if (!Object.hasOwn(parent, last)) parent[last] = []
  ;(parent[last] as JsonValue[]).push({ identifier_type, identifier_value: cell })
}
