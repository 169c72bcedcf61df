/** Prints acts that wait for a second operator. */
import { printableLines } from './asking/printing.ts'

export interface ProposedAct {
  readonly id: string
  readonly act: string
  readonly diff: readonly { readonly at: string; readonly from: unknown; readonly to: unknown }[]
}

/** The subject of the act, and lines for each change: the present value and the proposed one. */
export const diffLines = (diff: ProposedAct['diff']): readonly string[] =>
  diff.flatMap(({ at, from, to }) => {
    const [was, wanted] = [JSON.stringify(from), JSON.stringify(to)]
    if (was === wanted) return [`${at}: ${was}`]
    return [`${at}:`, ...(from === null ? [] : [`    - ${was}`]), ...(to === null ? [] : [`    + ${wanted}`])]
  })

/** For the operator who proposed the act: nothing was done, and what a second operator does now. */
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
