/** The progress of an import while it runs, and its report. They never have a value of a record. */

import type { Registry } from '@rollcall/core/model/registry'
import { findLastImport } from '@rollcall/import/import-progress'
import { columnValueCountsWithPaths, makeReport } from '@rollcall/import/report'
import Type from 'typebox'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, instant, isoTime, orNull, RecordTypeName, text, wholeNumber } from '../members.ts'

const LineNumbers = (description: string) => Type.Array(Type.Integer(), { description, maxItems: 3 })
const VALUE_COUNT_MEMBERS = {
  understood: wholeNumber('How often there was a value that is understood.'),
  empty: wholeNumber('How often there was none.'),
  not_understood: wholeNumber('How often there was one that is not understood.'),
  lines: LineNumbers('The first lines with a value that is not understood.'),
  rule: orNull(text('The rule that these values break; null: there are none, or a column of the table has it.')),
  unlisted: wholeNumber('How often a code was not on its list. It is stored as it is, and counts as understood.'),
  unlisted_lines: LineNumbers('The first lines with such a code.'),
  after_today: wholeNumber('How often a birth date was after the day of the import. It is stored, and counts as understood.'),
  after_today_lines: LineNumbers('The first lines with such a date.'),
}

const RejectionReasons = Type.Array(
  closed({
    reason: text('The rule.'),
    count: wholeNumber('Lines that were rejected for it.'),
    lines: LineNumbers('The first ones.'),
  }),
  { description: 'Why lines were rejected as a whole. Rules that a value breaks stand with its column or attribute.' },
)
const RepeatedIdentifierLines = closed(
  { count: wholeNumber('Lines whose record replaced that of an earlier line.'), lines: LineNumbers('The first ones.') },
  { description: 'Lines that have the primary identifier of an earlier line, unless they were rejected for it.' },
)
const AttributeValueCounts = Type.Array(
  closed({ record_type: RecordTypeName, name: text('Attribute, or type of identifier.'), ...VALUE_COUNT_MEMBERS }),
  { description: 'What the records had; records that could not be read at all are not among them.' },
)
const keptRecordCount = wholeNumber('Records that are stored although a value of them is not understood.')

/**
 * The report of an import or of a source check. If the import was interrupted and continued, the report covers all of it. It
 * quotes no value of a record.
 */
export const ImportReport = closed({
  kept: keptRecordCount,
  rejections: RejectionReasons,
  repeated: RepeatedIdentifierLines,
  attributes: AttributeValueCounts,
  columns: Type.Array(
    closed({ column: text('Column of the table.'), path: text('Its path in the column mapping.'), ...VALUE_COUNT_MEMBERS }),
    { description: 'For CSV: what the cells of the mapped columns had.' },
  ),
  unused_columns: Type.Array(Type.String(), {
    description: 'For CSV: columns that the mapping does not name, and that are not imported.',
  }),
})

const IMPORT_COUNT_MEMBERS = {
  entries: wholeNumber('Entries that were read.'),
  written: wholeNumber('Records that were written.'),
  inserted: wholeNumber('Of those, the records that were not there before.'),
  rejected: wholeNumber('Entries that were rejected.'),
}

export const RunningImport = closed(
  {
    running: flag('False: it was interrupted; called again with the same file it goes on.'),
    updated_at: instant('When its last batch was committed.'),
    line: wholeNumber('Line of the file on which the last entry stands that was read.'),
    ...IMPORT_COUNT_MEMBERS,
    rejections: Type.Array(closed({ reason: text('Why entries were rejected as a whole.'), count: wholeNumber('How many.') })),
  },
  { description: 'An import that has begun and not ended.' },
)

export const EndedImport = closed(
  {
    ended_at: instant('When it ended.'),
    ...IMPORT_COUNT_MEMBERS,
    kept: keptRecordCount,
    rejections: RejectionReasons,
    repeated: RepeatedIdentifierLines,
    attributes: AttributeValueCounts,
    paths: Type.Array(closed({ path: text('Path in the column mapping.'), ...VALUE_COUNT_MEMBERS }), {
      description: 'For CSV: what the cells of the mapped columns had.',
    }),
  },
  { description: 'The report of the last import. While another one is under way it is not there.' },
)

/** Shows the last import of a registry: running, interrupted or ended. */
export async function showLastImport({ db }: HasDatabase, { id, kind }: Registry) {
  const last = await findLastImport(db, id)
  if (last === null) return { import: null, last_import: null }
  const { ended, running, updated_at, line, entries, written, inserted, rejected, read } = last
  const counted = { entries, written, inserted, rejected }
  if (!ended) {
    const rejections = read.rejections.map(({ reason, count }) => ({ reason, count }))
    const begun = { running, updated_at: isoTime(updated_at), line, ...counted, rejections }
    return { import: begun, last_import: null }
  }
  const { kept, rejections, repeated, attributes } = makeReport(kind, read, null)
  const paths = columnValueCountsWithPaths(read)
  const report = { kept, rejections, repeated, attributes, paths }
  return { import: null, last_import: { ended_at: isoTime(updated_at), ...counted, ...report } }
}
