/** What is printed of acts that wait for a second operator. */
import { printableLines } from './asking/printing.ts'

export interface ProposedAct {
  readonly id: string
  readonly act: string
  readonly diff: readonly { readonly at: string; readonly from: unknown; readonly to: unknown }[]
}

/** A line for each change, with what is there and what would be. */
export const diffLines = (diff: ProposedAct['diff']): readonly string[] =>
  diff.flatMap(({ at, from, to }) => [
    `${at}:`,
    ...(from === null ? [] : [`    - ${JSON.stringify(from)}`]),
    ...(to === null ? [] : [`    + ${JSON.stringify(to)}`]),
  ])

/** For the one who wanted it: nothing was done, and what a second operator does now. */
export const proposedText = (message: string, { id, diff }: ProposedAct): string =>
  printableLines(
    [
      `nothing was changed: ${message}`,
      ...diffLines(diff),
      'Another operator decides, with a token of its own in ROLLCALL_OPERATOR_TOKEN:',
      `    rollcall proposal approve ${id}`,
      `    rollcall proposal decline ${id}`,
    ].join('\n'),
  )
