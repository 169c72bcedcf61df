/** Writes results of commands to standard output: a text for people, or JSON for machines. */
import { countWithNoun } from '@rollcall/base/shared/message-words'
import type { Command } from 'commander'
import { printableLines, toPrintableLine } from './asking/printing.ts'
import { OutputFailed } from './failure.ts'

export interface OutputOptions {
  readonly json?: boolean
}

/** Adds `--json` to a command. */
export function withJsonOption(command: Command): Command {
  return command.option('--json', 'print JSON for machines')
}

/**
 * Prints `value` as one JSON text with --json, otherwise `text`. Parts of both come from peers, so control characters and those
 * that change the direction of text are escaped.
 */
export function printResult({ json }: OutputOptions, value: unknown, text: string): void {
  process.stdout.write(json ? `${toPrintableLine(JSON.stringify(value))}\n` : `${printableLines(text)}\n`)
}

/** Writes to standard output, and waits until it is written. @throws OutputFailed */
export const writeOutput = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(new OutputFailed(error)) : resolve()))
  })

/** Resolves when standard output cannot be written: what comes later could not be printed either. */
export const outputFailure = (): Promise<void> => new Promise((resolve) => process.stdout.once('error', () => resolve()))

/** Prints a line while a command goes on. */
export const printLine = (line: string): void => void process.stdout.write(`${line}\n`)

/** Makes a function that prints lines of progress for people, and nothing with --json. */
export const makeProgressPrinter = ({ json }: OutputOptions): ((line: string) => void) => (json ? () => undefined : printLine)

/** Lists some line numbers of a file, and how many others there are. @param count number of all lines */
export const lineNumbersText = (count: number, lines: readonly number[]): string =>
  `${count === 1 ? 'line' : 'lines'} ${lines.join(', ')}${count > lines.length ? ` and ${count - lines.length} others` : ''}`

export { countWithNoun }

type TableCell = string | number | boolean | null | readonly string[]

/** Returns a text with the rows in columns below the column names. Without rows, returns the text that `nothing` has. */
export function tableText(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, TableCell>>[],
  nothing: string,
): string {
  if (rows.length === 0) return nothing
  const lines = [columns, ...rows.map((row) => columns.map((column) => cellText(row[column])))]
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cellText(cell: TableCell | undefined): string {
  if (Array.isArray(cell)) return cellText(cell.join(' ') || null)
  if (cell === null || cell === undefined) return '-'
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  return toPrintableLine(String(cell))
}

/** Returns names and values as a text of two columns: a list on one line, an object as JSON, null and an empty list as `-`. */
export function namesAndValuesText(facts: object): string {
  const rows = Object.entries(facts)
  const width = Math.max(15, ...rows.map(([name]) => name.length)) + 1
  return rows.map(([name, value]) => `${name.padEnd(width)}${valueCellText(value)}`).join('\n')
}

function valueCellText(value: unknown): string {
  if (Array.isArray(value)) return value.join(' ') || '-'
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '-')
}

/**
 * Makes a function that returns rows as the text of a table.
 * @param columns one text with the names of all columns, separated by spaces
 * @param nothing the text for no rows
 */
export const tableFormatter =
  <Row extends object>(columns: string, nothing: string, cells: (row: Row) => object = (row) => row) =>
  (rows: readonly Row[]): string =>
    tableText(
      columns.split(' '),
      rows.map((row) => cells(row) as Record<string, TableCell>),
      nothing,
    )
