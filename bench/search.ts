/**
 * How fast a synchronous search is (bearer token, unsigned request, random identifiers of a large registry) beside
 * its floor, `floors/search.ts`. Both run at the same time in processes of their own on one database and are
 * loaded in turns by the same generator. With `--plain-floor` the floor writes no entry. docs/benchmarks.md says more.
 *
 *     npm run bench -- search --data /var/tmp/rollcall-bench
 */
import { compareSearches } from './search/compare-searches.ts'
import { question } from './search/question.ts'
import type { Row } from './shared/results.ts'

/** Measures, prints and writes `search.json`. */
export function run(args: readonly string[]): Promise<readonly Row[]> {
  return compareSearches(args, {
    name: 'search',
    floor: 'floors/search',
    bars: { entry: 0.65, plain: 0.52 },
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
