/** Rows of a table become documents, by a column mapping. */
import type { JsonValue } from '@rollcall/protocol'
import { nearestHint } from '../shared/nearest.ts'
import type { ColumnMapping, Target } from './column-mapping.ts'
import { ImportError } from './source.ts'

/** The document of a row, or what is wrong with it: the path and the rule, never the value. */
export type RowDocument = { readonly document: JsonValue } | { readonly problem: string }

type Members = { [member: string]: JsonValue }
type Scalar = string | number | boolean

/**
 * How rows under this header become documents. Empty cells are missing members; what no rule changes is text.
 * @throws ImportError when a mapped column is not in the header, or twice
 */
export function rowDocuments(
  { targets }: ColumnMapping,
  header: readonly string[],
): (cells: readonly string[]) => RowDocument {
  const names = header.map((name) => name.trim())
  const placed = targets.map((target) => ({ target, index: columnIndex(target, names) }))
  return (cells) => {
    const document: Members = {}
    for (const { target, index } of placed) {
      const values = index === null ? [target.value ?? ''] : valuesOf(target, cells[index] ?? '')
      if (typeof values === 'string')
        return { problem: `${target.path} (column ${target.column}): ${values}` }
      put(document, target, values)
    }
    return { document }
  }
}

/** Null for a constant. */
function columnIndex({ path, column }: Target, names: readonly string[]): number | null {
  if (column === null) return null
  const index = names.indexOf(column.trim())
  if (index === -1) {
    throw new ImportError(
      `the file has no column ${column}, which the column mapping names for ${path}${nearestHint(column, names)}`,
    )
  }
  if (names.lastIndexOf(column.trim()) !== index) {
    throw new ImportError(`the file has more than one column ${column}; rename the others in its header line`)
  }
  return index
}

/** The values of a cell, none for an empty one, or the rule that one of them breaks. */
function valuesOf(target: Target, cell: string): Scalar[] | string {
  const pieces = target.split === null ? [cell] : cell.split(target.split).map((piece) => piece.trim())
  const values: Scalar[] = []
  for (const piece of pieces) {
    if (piece.trim() === '') continue
    const value = valueIn(target, piece)
    if (value === null) return ruleOf(target)
    if (value !== undefined) values.push(value)
  }
  return values
}

/** Undefined: nothing is written; null: the text is not understood. */
function valueIn({ format, codes, unlisted }: Target, text: string): Scalar | null | undefined {
  if (format !== null) return format.read(text)
  if (codes === null) return text
  const code = codes.get(text.trim())
  if (code !== undefined) return code
  if (unlisted === 'omit') return undefined
  return unlisted === 'keep' ? text : null
}

const ruleOf = ({ format }: Target): string =>
  format === null
    ? 'must be a value that the codes of the mapping list'
    : `must be a date of the format ${format.text}`

function put(document: Members, target: Target, values: readonly Scalar[]): void {
  const { steps, identifier_type, split } = target
  const [first, ...others] = values.map(
    (value): JsonValue => (identifier_type === null ? value : { identifier_type, identifier_value: value }),
  )
  if (first === undefined) return
  let parent = document
  for (const { key, array } of steps.slice(0, -1)) {
    // Own members only: a column may be called `constructor`. The mapping has no two targets that collide.
    if (!Object.hasOwn(parent, key)) parent[key] = array ? [{}] : {}
    const next = parent[key]
    parent = (Array.isArray(next) ? next[0] : next) as Members
  }
  const last = steps.at(-1)
  if (last === undefined) return
  const held = Object.hasOwn(parent, last.key) ? parent[last.key] : undefined
  const isList = last.array || split !== null
  parent[last.key] = isList ? [...(Array.isArray(held) ? held : []), first, ...others] : first
}
