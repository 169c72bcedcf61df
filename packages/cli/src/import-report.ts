/**
 * The text of an import report: how many values were understood (valid for their attribute), empty or not understood. The text
 * shows no value.
 */
import { delimiterName, type importRecords } from '@rollcall/admin/records/records'
import { lineNumbersText, tableText } from './output.ts'

type ImportResult = Awaited<ReturnType<typeof importRecords>>
type ResultReport = ImportResult['report']
type CountedColumnOrAttribute = ResultReport['columns'][number] | ResultReport['attributes'][number]

const COUNT_COLUMNS = ['understood', 'empty', 'not understood']

const countsAsCells = ({ understood, empty, not_understood }: CountedColumnOrAttribute) => ({
  understood,
  empty,
  'not understood': not_understood,
})

/** Says how a CSV file was read, because much of that is guessed; no line for other formats. */
export function csvReadingText({ encoding, delimiter, header }: ImportResult['read_as']): string[] {
  if (delimiter === null) return []
  const first = header ? 'with a header line' : 'without a header line'
  return [`read as CSV in ${encoding}, with ${delimiterName(delimiter)} between cells, ${first}`]
}

/** Returns an import report as lines. @param undecided columns with a `# DECIDE` comment: a person must still map them */
export function importReportText(
  { kept, rejections, repeated, columns, unused_columns, attributes }: ResultReport,
  undecided: readonly string[],
): string[] {
  const leftOut = unused_columns.filter((column) => !undecided.includes(column))
  const recordTypes = [...new Set(attributes.map(({ record_type }) => record_type))]
  return [
    ...rejections.map(({ reason, count, lines }) => `rejected: ${reason}; ${lineNumbersText(count, lines)}`),
    ...(repeated.count > 0
      ? [
          `repeated: the line has the primary identifier of an earlier line, and replaces its record; ${lineNumbersText(repeated.count, repeated.lines)}`,
        ]
      : []),
    ...(kept > 0
      ? [
          kept === 1
            ? '1 is stored although a value of it is not understood'
            : `${kept} are stored although a value of each is not understood`,
        ]
      : []),
    ...(columns.length > 0 ? ['', columnsTable(columns)] : []),
    ...columns.flatMap((one) => problemText(`${one.column} (${one.path})`, one)),
    ...(undecided.length > 0
      ? [
          `not imported, because the mapping still has DECIDE for them: ${undecided.join(', ')}; choose a line for each, or delete its lines`,
        ]
      : []),
    ...(leftOut.length > 0 ? [`columns that are not imported: ${leftOut.join(', ')}`] : []),
    ...recordTypes.flatMap((recordType) =>
      attributesText(
        recordType,
        attributes.filter(({ record_type }) => record_type === recordType),
      ),
    ),
  ]
}

function columnsTable(columns: ResultReport['columns']): string {
  const rows = columns.map((one) => ({ column: one.column, path: one.path, ...countsAsCells(one) }))
  return tableText(['column', 'path', ...COUNT_COLUMNS], rows, '')
}

function attributesText(recordType: string, attributes: ResultReport['attributes']): string[] {
  const found = attributes.filter(({ understood, not_understood }) => understood + not_understood > 0)
  const none = attributes.filter((one) => !found.includes(one)).map(({ name }) => name)
  const rows = found.map((one) => ({ [recordType]: one.name, ...countsAsCells(one) }))
  return [
    ...(rows.length > 0 ? ['', tableText([recordType, ...COUNT_COLUMNS], rows, '')] : []),
    ...found.flatMap((one) => problemText(one.name, one)),
    ...(none.length > 0 ? [`${recordType}, read in no record: ${none.join(', ')}`] : []),
  ]
}

function problemText(name: string, counted: CountedColumnOrAttribute) {
  const { not_understood, lines, rule, unlisted, unlisted_lines, after_today, after_today_lines } = counted
  return [
    ...(after_today > 0 ? [`${name} is after today, stored as it is; ${lineNumbersText(after_today, after_today_lines)}`] : []),
    ...(not_understood > 0 && rule !== null ? [`${name} ${rule}; ${lineNumbersText(not_understood, lines)}`] : []),
    ...(unlisted > 0
      ? [`${name} has codes that are not on its list, stored as they are; ${lineNumbersText(unlisted, unlisted_lines)}`]
      : []),
  ]
}
