/** Makes documents from the rows of a table, by a column mapping. */

import { comparableName, nearestNameHint } from '@rollcall/base/shared/message-words'
import type { JsonValue } from '@rollcall/protocol'
import type { ColumnMapping, MappingTarget } from './column-mapping.ts'
import { ImportError } from './import-error.ts'

/** How a cell was read. `not_understood`: the mapping, or later the attribute or identifier type, does not accept the value. */
export const CELL_STATES = { empty: 0, value: 1, not_understood: 2 } as const

/** For one row, how the cell of each target was read. */
export interface RowCells {
  readonly targets: readonly MappingTarget[]
  /** For each target, how its cell was read: one of `CELL_STATES`; `value` for a constant. */
  readonly states: Uint8Array
}

export interface RowDocument {
  readonly document: JsonValue
  readonly cells: RowCells
}

export interface RowReader {
  /** Reads the cells of a row. A text that is not understood is written into the document as it is. */
  read(cells: readonly string[]): RowDocument
  /** The names of columns that the mapping does not use. */
  readonly unused: readonly string[]
}

type DocumentMembers = { [member: string]: JsonValue }
type CellValue = string | number | boolean

/**
 * Makes the reader of rows under this header. An empty cell is a missing member; a value without a rule is a text.
 * @throws ImportError the header does not have a mapped column, or has it twice
 */
export function createRowReader({ targets }: ColumnMapping, header: readonly string[]): RowReader {
  const names = header.map((name) => name.trim())
  // A first line without any mapped column may be the data of a person.
  const isHeader = targets.some(({ column }) => column !== null && names.includes(column.trim()))
  const placed = targets.map((target) => ({ target, index: columnIndex(target, names, isHeader) }))
  const used = new Set(placed.map(({ index }) => index))
  return {
    unused: names.filter((name, index) => name !== '' && !used.has(index)),
    read(cells) {
      const document: DocumentMembers = {}
      const states = new Uint8Array(targets.length)
      for (const [at, { target, index }] of placed.entries()) {
        const { values, state } =
          index === null ? { values: [target.value ?? ''], state: CELL_STATES.value } : readCell(target, cells[index] ?? '')
        states[at] = state
        putCellValues(document, target, values)
      }
      return { document, cells: { targets, states } }
    },
  }
}

/** The fault of a cell, for the rejects file: path, column and rule, never the value. */
export const describeCellProblem = (target: MappingTarget, rule: string): string =>
  `${target.path} (column ${target.column}): ${rule}`

/** The mapping's rule for a cell; null when the mapping has neither a format nor codes for it. */
export const findCellValueRule = ({ format, codes }: MappingTarget): string | null => {
  if (format !== null) return format.rule
  return codes === null ? null : 'must be a value that the codes of the mapping list'
}

/** The problems of the cells whose values the mapping does not understand. */
export const cellProblems = ({ targets, states }: RowCells): readonly string[] =>
  states.includes(CELL_STATES.not_understood)
    ? targets.flatMap((target, at) => {
        const rule = states[at] === CELL_STATES.not_understood ? findCellValueRule(target) : null
        return rule === null ? [] : [describeCellProblem(target, rule)]
      })
    : []

/**
 * The index of the column that a target names; null when the target is a constant.
 * @param isHeader false when `names` may be the data of a person. The error then quotes only a name that differs from `column` in
 * case or separators alone.
 */
function columnIndex({ path, column }: MappingTarget, names: readonly string[], isHeader: boolean): number | null {
  if (column === null) return null
  const index = names.indexOf(column.trim())
  if (index === -1) {
    const known = names.filter((name) => isHeader || comparableName(name) === comparableName(column))
    throw new ImportError(
      `the file has no column ${column}, which the column mapping names for ${path}${nearestNameHint(column, known)}`,
    )
  }
  if (names.lastIndexOf(column.trim()) !== index) {
    throw new ImportError(`the file has more than one column ${column}; rename the others in its header line`)
  }
  return index
}

/** Returns the values of a cell, and its state (`CELL_STATES`). An empty cell has none, nor has a code that the mapping omits. */
function readCell(target: MappingTarget, cell: string): { readonly values: CellValue[]; state: number } {
  const pieces = target.split === null ? [cell] : cell.split(target.split).map((piece) => piece.trim())
  const values: CellValue[] = []
  let state: number = CELL_STATES.empty
  for (const piece of pieces) {
    if (piece.trim() === '') continue
    const value = readCellPiece(target, piece)
    if (value !== undefined) values.push(value ?? piece)
    if (value === null) state = CELL_STATES.not_understood
    else if (state === CELL_STATES.empty) state = CELL_STATES.value
  }
  return { values, state }
}

/** Reads a text by the rules of its target. Undefined: no value is written; null: the text is not understood. */
function readCellPiece({ format, codes, unlisted }: MappingTarget, text: string): CellValue | null | undefined {
  if (format !== null) return format.read(text)
  if (codes === null) return text
  const code = codes.get(text.trim())
  if (code !== undefined) return code
  if (unlisted === 'omit') return undefined
  return unlisted === 'keep' ? text : null
}

function putCellValues(document: DocumentMembers, target: MappingTarget, values: readonly CellValue[]): void {
  const { steps, identifier_type, split } = target
  const [first, ...others] = values.map(
    (value): JsonValue => (identifier_type === null ? value : { identifier_type, identifier_value: value }),
  )
  if (first === undefined) return
  let parent = document
  for (const { key, array } of steps.slice(0, -1)) {
    // `hasOwn`: a member may be called `constructor`. `next` is an object, or a list of one object, because the check of the
    // mapping refuses two targets of which one writes a value where the other writes members of an object.
    if (!Object.hasOwn(parent, key)) parent[key] = array ? [{}] : {}
    const next = parent[key]
    parent = (Array.isArray(next) ? next[0] : next) as DocumentMembers
  }
  const last = steps.at(-1)
  if (last === undefined) return
  const held = Object.hasOwn(parent, last.key) ? parent[last.key] : undefined
  const isList = last.array || split !== null
  parent[last.key] = isList ? [...(Array.isArray(held) ? held : []), first, ...others] : first
}
