/** Makes records from rows of a source, by the mapping and the rules of an import. */

import { RecordReadingNotes } from '@rollcall/import/record-notes'
import { CELL_STATES, type RowCells } from '@rollcall/import/row-documents'
import { isJsonObject, type JsonObject, type JsonValue, type Kind } from '@rollcall/protocol'
import { InvalidRecord, type PreparedRecord, prepareExternalRecord } from '@rollcall/records/records/prepare-record'
import type { SourceRow } from './engine/engine.ts'
import type { RecordMapping } from './engine/mapped-records.ts'
import { MOST_CHILD_ROWS } from './engine/row-statement.ts'

/** The result of reading a row of a source. Both `record` and `problems` may be present: then the row is left out. */
export interface RowReadResult {
  readonly cells: RowCells
  readonly notes: RecordReadingNotes
  /** The record, even if `problems` leave the row out; null: its document is no valid record. */
  readonly record: PreparedRecord | null
  /** The document of the row, as a value. */
  readonly document: JsonValue
  /** Why the row is left out, in the words of an import and without values. Empty: it becomes a record. */
  readonly problems: readonly string[]
}

/** The problem of a row whose rows in a child table could not all be read: there are too many, or they are too long. */
export const TOO_MANY_CHILDREN_PROBLEM = `more than ${MOST_CHILD_ROWS} rows of a child, or rows too long to be read`

/**
 * Makes a record of a row. A value that is not understood becomes one of the `problems`, and is missing in the record. So callers
 * must not use a record with problems: it could mislead.
 */
export function readRow(kind: Kind, { recordType, own, children, lists, targets }: RecordMapping, row: SourceRow): RowReadResult {
  const notes = new RecordReadingNotes()
  const read = own.reader.read(row.cells)
  const states = new Uint8Array(targets.length)
  states.set(read.cells.states)
  let document = read.document
  let place = own.targets.length
  let isTooMany = false
  for (const [at, child] of children.entries()) {
    const rows = row.children[at]
    isTooMany ||= rows === null
    for (const cells of rows ?? []) {
      const one = child.reader.read(cells)
      // A column of a child has one state for all its rows: if one row has a cell that is not understood, that is the state.
      for (const [index, state] of one.cells.states.entries()) {
        states[place + index] = Math.max(states[place + index] ?? CELL_STATES.empty, state)
      }
      document = mergeDocuments(document, one.document, lists)
    }
    place += child.targets.length
  }
  const cells: RowCells = { targets, states }
  const prepared = makeRecordOrProblem(kind, recordType, document, notes)
  notes.compare(cells)
  const problems = [...(isTooMany ? [TOO_MANY_CHILDREN_PROBLEM] : []), ...notes.problems(cells)]
  if (typeof prepared === 'string') return { cells, notes, document, record: null, problems: [...problems, prepared] }
  return { cells, notes, document, record: prepared, problems }
}

function makeRecordOrProblem(
  kind: Kind,
  recordType: RecordMapping['recordType'],
  document: JsonValue,
  notes: RecordReadingNotes,
): PreparedRecord | string {
  try {
    return prepareExternalRecord(kind, recordType, document, notes)
  } catch (error) {
    if (error instanceof InvalidRecord) return error.reason
    throw error
  }
}

/**
 * Merges two documents: elements of lists, and members. Two values at one path become a list if a record may have
 * several there; otherwise the first one stays.
 */
function mergeDocuments(one: JsonValue, other: JsonValue, lists: ReadonlySet<string>, path = ''): JsonValue {
  if (Array.isArray(one)) return [...one, ...(Array.isArray(other) ? other : [other])]
  if (!isJsonObject(one) || !isJsonObject(other)) {
    if (!lists.has(path)) return one
    return [one, ...(Array.isArray(other) ? other : [other])]
  }
  const members: { [name: string]: JsonValue } = { ...(one as JsonObject) }
  for (const [name, value] of Object.entries(other)) {
    const held = Object.hasOwn(members, name) ? members[name] : undefined
    const inside = path === '' ? name : `${path}.${name}`
    members[name] = held === undefined ? value : mergeDocuments(held, value, lists, inside)
  }
  return members
}
