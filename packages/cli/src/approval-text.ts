/** Makes texts about acts that wait for a second operator. */
import { printableLines } from './asking/printing.ts'

export interface ProposedAct {
  readonly id: string
  readonly act: string
  readonly diff: readonly { readonly at: string; readonly from: unknown; readonly to: unknown }[]
}

/** Makes the text lines of a diff. Where both values are equal, the value is shown once. */
export const diffLinesText = (diff: ProposedAct['diff']): readonly string[] =>
  diff.flatMap(({ at, from, to }) => {
    const [was, wanted] = [JSON.stringify(from), JSON.stringify(to)]
    if (was === wanted) return [`${at}: ${was}`]
    return [`${at}:`, ...(from === null ? [] : [`    - ${was}`]), ...(to === null ? [] : [`    + ${wanted}`])]
  })

/** The text for the operator who proposed an act: nothing was done yet, and how a second operator decides. */
export const proposedActText = (message: string, { id, diff }: ProposedAct): string =>
  printableLines(
    [
      `nothing was changed: ${message}`,
      ...diffLinesText(diff),
      'Another operator decides, with a token of its own in ROLLCALL_OPERATOR_TOKEN:',
      `    rollcall proposal approve ${id}`,
      `    rollcall proposal decline ${id}`,
    ].join('\n'),
  )
