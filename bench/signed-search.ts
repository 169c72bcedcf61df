/**
 * How fast a signed synchronous search is: verified, remembered, looked up, answered signed; beside its floor,
 * `floors/signed-search.ts`. The messages of a round are signed before it begins, so that the generator is as fast as
 * for unsigned ones. docs/benchmarks.md says more.
 *
 *     npm run bench -- signed-search --data /var/tmp/rollcall-bench
 */
import { compareSearches, type Question } from './search/compare-searches.ts'
import type { Identifiers } from './search/setting.ts'
import { questionSigner, registerAskerKey } from './search/signing.ts'

/** Messages that are signed at a time. */
const TOGETHER = 500

/** Measures, prints and writes `bench/results/signed-search.json`; false when the bar is missed. */
export async function run(args: readonly string[]): Promise<boolean> {
  const signed = await questionSigner()
  return compareSearches(args, {
    name: 'signed-search',
    policy: { signature_policy: 'required' },
    register: registerAskerKey,
    async questions(identifiers, count) {
      const questions: Question[] = []
      while (questions.length < count) {
        const asked = next(identifiers, Math.min(TOGETHER, count - questions.length))
        const bodies = await Promise.all(asked.map(signed))
        questions.push(...bodies.map((body, index) => ({ body, asked: asked[index] as string })))
      }
      return questions.values()
    },
  })
}

const next = (identifiers: Identifiers, count: number): string[] =>
  Array.from({ length: count }, () => identifiers.next().value)

if (import.meta.main) process.exitCode = (await run(process.argv.slice(2))) ? 0 : 1
