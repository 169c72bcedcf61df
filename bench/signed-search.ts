/**
 * How fast a signed synchronous search is: verified, remembered, looked up, answered signed; beside its floor,
 * `floors/signed-search.ts`. The messages of a round are signed before it begins, so that the generator is as fast as
 * for unsigned ones. docs/benchmarks.md says more.
 *
 *     npm run bench -- signed-search --data /var/tmp/rollcall-bench
 */
import { compareSearches, type Question, type Stock } from './search/compare-searches.ts'
import type { Identifiers } from './search/setting.ts'
import { questionSigner, registerAskerKey } from './search/signing.ts'
import type { Row } from './shared/results.ts'

/** Messages that are signed at a time. */
const TOGETHER = 500

/** Measures, prints and writes `signed-search.json`. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const signed = await questionSigner()
  return compareSearches(args, {
    name: 'signed-search',
    floor: 'floors/signed-search',
    bars: { entry: 0.65, plain: 0.55 },
    policy: { signature_policy: 'required' },
    register: registerAskerKey,
    stock: (identifiers) => signedStock(identifiers, signed),
  })
}

/** A stock of signed messages. The rest of a round is first in the next one, whichever server that loads. */
export function signedStock(identifiers: Identifiers, signed: (identifier: string) => Promise<string>): Stock {
  let questions: Question[] = []
  let used = 0
  return {
    async ready(count) {
      questions = questions.slice(used)
      used = 0
      while (questions.length < count) {
        const length = Math.min(TOGETHER, count - questions.length)
        const asked = Array.from({ length }, () => identifiers.next().value)
        questions.push(...(await Promise.all(asked.map(async (asked) => ({ asked, body: await signed(asked) })))))
      }
    },
    next() {
      const question = questions[used]
      if (question === undefined) throw new Error('a server answers faster than was prepared for')
      used += 1
      return question
    },
  }
}
