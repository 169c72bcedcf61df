/** Makes the text of a YAML file from a proposed mapping, with the reasons as comments. */

import type { proposeMapping } from '@rollcall/admin/registries/mapping-proposal'
import { yamlMember, yamlName } from '@rollcall/base/shared/yaml-text'
import { lineNumbersText } from './output.ts'

type MappingProposal = Awaited<ReturnType<typeof proposeMapping>>
type MappingColumn = MappingProposal['columns'][number]

/** Says how many rows of the file were left out when the mapping was proposed, and on which lines they are. */
export const leftOutRowsText = ({ left_out: { rows, lines } }: MappingProposal): string[] =>
  rows === 0
    ? []
    : [
        `${rows} ${rows === 1 ? 'row was' : 'rows were'} left out: not as many cells as the header line, or not readable; ${lineNumbersText(rows, lines)}`,
      ]

/** Returns the text of the YAML file. `source` names the file that has the columns; `of` is a namespace or a kind. */
export function proposedMappingText(source: string, of: string, proposal: MappingProposal): string {
  const { rows, whole, record_type, columns, lacking } = proposal
  const looked = whole && proposal.left_out.rows === 0 ? `all ${rows} rows` : `${whole ? '' : 'the first '}${rows} rows`
  const head = [
    `Proposed for ${record_type} records of ${of}, from the columns of ${source} and ${looked}. Review every line.`,
    'A line without # is used by rollcall import --map. To decide, remove the # before one choice.',
    ...leftOutRowsText(proposal).map((one) => `LEFT OUT: ${one}.`),
    ...lacking.map((one) => `LACKING: ${one}.`),
  ]
  const parts = [
    ...columns.filter(({ state }) => state === 'mapped').map(mappedColumnText),
    ...columns.filter(({ state }) => state === 'decide').map(undecidedColumnText),
    unmappedColumnsText(columns.filter(({ state }) => state === 'unmapped')),
  ]
  return `${[commentLines(head), ...parts].filter((part) => part !== '').join('\n\n')}\n`
}

const commentLines = (lines: readonly string[]): string => lines.map((line) => `# ${line}`).join('\n')

const columnSentence = ({ column, reasons }: MappingColumn): string => `${yamlName(column)}: ${reasons.join('; ')}.`

const mappedColumnText = (column: MappingColumn): string =>
  `${commentLines([columnSentence(column)])}\n${yamlMember(column.path ?? '', column.rule)}`

const undecidedColumnText = (column: MappingColumn): string =>
  commentLines([
    `DECIDE ${columnSentence(column)}`,
    ...column.choices.map(({ path, rule, meaning }) => `${yamlMember(path, rule)}   # ${meaning}`),
  ])

/** Lists the columns that still have a DECIDE comment in the text of a mapping file. */
export function columnsToDecide(text: string): readonly string[] {
  return [...text.matchAll(/^# DECIDE (?:("(?:[^"\\]|\\.)*")|([^:]*)): /gm)].map(([, quoted, word = '']) =>
    quoted === undefined ? word : String(JSON.parse(quoted)),
  )
}

const unmappedColumnsText = (columns: readonly MappingColumn[]): string =>
  columns.length === 0
    ? ''
    : commentLines([
        'Not mapped; the import leaves these columns out:',
        ...columns.map((column) => `- ${columnSentence(column)}`),
      ])
