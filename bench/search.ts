/**
 * How fast a synchronous search is (bearer token, unsigned request, random identifiers of a large registry) beside
 * its floor, `floors/search.ts`. Both run at the same time in processes of their own on one database and are
 * loaded in turns by the same generator. docs/benchmarks.md says more.
 *
 *     npm run bench -- search --data /var/tmp/rollcall-bench
 */
import { compareSearches } from './search/compare-searches.ts'
import { question } from './search/question.ts'

/** Measures, prints and writes `bench/results/search.json`; false when the bar is missed. */
export function run(args: readonly string[]): Promise<boolean> {
  return compareSearches(args, {
    name: 'search',
    policy: { signature_policy: 'if-present', allow_unsigned: true },
    stock: (identifiers) => ({
      ready: async () => {},
      next() {
        const asked = identifiers.next().value
        return { asked, body: question(asked) }
      },
    }),
  })
}

if (import.meta.main) process.exitCode = (await run(process.argv.slice(2))) ? 0 : 1
