/** Makes the YAML text of a proposed source file, with the reasons as comments. */

import { yamlMember, yamlName } from '@rollcall/base/shared/yaml-text'
import { UNDECIDED_MARK } from '@rollcall/import/column-mapping'
import type { SourceFile } from './engine/mapped-records.ts'
import type { ProposedFileMember } from './propose-part.ts'
import type { ProposedRecordMapping, ProposedTable } from './propose-source.ts'

/** Returns the text of a proposed source file. @param of the namespace of a registry, or the name of a kind */
export function writeProposedText(
  of: string,
  { engine, url }: Pick<SourceFile, 'engine' | 'url'>,
  records: readonly ProposedRecordMapping[],
): string {
  const lines = [
    `# Proposed for ${of}, from the names and the first rows of its tables. Review every line.`,
    `# A line with "${UNDECIDED_MARK}" is refused until it is decided: remove it, and the # before one of the lines below it.`,
    `engine: ${engine}`,
    yamlMember('url', url),
    'way: live',
    'records:',
    ...records.flatMap(recordLines),
  ]
  return `${lines.join('\n')}\n`
}

/** Lists what a person must decide: for each open member its record type, table and name, and the reasons. */
export const undecidedMemberLines = (records: readonly ProposedRecordMapping[]): readonly string[] =>
  records.flatMap(({ recordType, own, children }) =>
    [own, ...children].flatMap(({ table, head, columns }) =>
      [...head, ...columns]
        .filter(({ value, isOptional }) => value === null && !isOptional)
        .map(({ name, reasons }) => `${recordType.name}, ${table.schema}.${table.name}, ${name}: ${reasons.join('; ')}`),
    ),
  )

const indentLines = (depth: number, lines: readonly string[]): string[] =>
  lines.map((line) => (line === '' ? '' : `${'  '.repeat(depth)}${line}`))

function recordLines({ recordType, own, children, compare }: ProposedRecordMapping): readonly string[] {
  return indentLines(1, [
    `${yamlName(recordType.name)}:`,
    ...indentLines(1, proposedTableLines(own)),
    ...(children.length === 0 ? [] : ['  children:']),
    ...children.flatMap((child) => proposedTableLines(child).map((line, at) => (at === 0 ? `    - ${line}` : `      ${line}`))),
    ...(compare.size === 0 ? [] : ['  compare:']),
    ...[...compare].map(([name, way]) => `    ${yamlName(name)}: ${way}`),
  ])
}

/** The YAML lines of a table. The first line is no comment, because in a list of tables it stands after a hyphen. */
function proposedTableLines({ table: { schema, name }, select, rows, head, columns }: ProposedTable): readonly string[] {
  const place = select === null ? `from: ${schema}.${name}` : yamlMember('select', select)
  return [
    `${place}   # ${rows} ${rows === 1 ? 'row was' : 'rows were'} read`,
    ...head.flatMap(fileMemberLines),
    'columns:',
    ...indentLines(
      1,
      columns.toSorted((one, other) => Number(one.isOptional) - Number(other.isOptional)).flatMap(fileMemberLines),
    ),
  ]
}

function fileMemberLines({ name, value, choices, reasons, isOptional }: ProposedFileMember): readonly string[] {
  const why = `${reasons.join('; ')}.`
  if (value !== null) return [`# ${why}`, yamlMember(name, value)]
  const shown = choices.map((one) => `# ${yamlMember(one.name ?? name, one.value)}   # ${one.meaning}`)
  if (isOptional) return [`# LEFT OUT ${why}`, ...shown]
  return [`# DECIDE ${why}`, yamlMember(name, UNDECIDED_MARK), ...shown]
}
