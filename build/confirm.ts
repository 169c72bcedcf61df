/** Asks whoever makes a release before anything is changed. */
import { createInterface } from 'node:readline/promises'
import { ReleaseRefused } from './versions.ts'

interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream
}

/**
 * Says what will be done, and waits for a yes.
 * @param yes it was given before
 * @throws ReleaseRefused another answer, or nobody who could answer
 */
export async function confirm(
  plan: readonly string[],
  yes: boolean,
  { input, output }: Terminal = { input: process.stdin, output: process.stdout },
): Promise<void> {
  output.write(`${plan.join('\n')}\n`)
  if (yes) return
  if (input.isTTY !== true) {
    throw new ReleaseRefused('Nothing was changed: without a terminal that could be asked, add --yes.')
  }
  const asking = createInterface({ input, output })
  // Ctrl-D is no yes.
  const ended = new Promise<string>((resolve) => asking.once('close', () => resolve('')))
  const answer = await Promise.race([asking.question('Release? Type yes: '), ended])
  asking.close()
  if (answer.trim() !== 'yes') throw new ReleaseRefused('Nothing was changed.')
}
