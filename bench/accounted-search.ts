/**
 * How fast a signed search under a grant is: the record is cut, and the answer is accounted for before it leaves; beside its
 * floor, `floors/accounted-search.ts`: the signed floor, and one batched INSERT before each answer. docs/benchmarks.md says more.
 *
 *     npm run bench -- accounted-search --data /var/tmp/rollcall-bench
 */

import { setGrant } from '@rollcall/admin/grants/grants'
import type { Database } from '@rollcall/database/database'
import { compareSearches } from './search/compare-searches.ts'
import { ASKER_SENDER, NAMESPACE } from './search/question.ts'
import { questionSigner, registerAskerKey } from './search/signing.ts'
import { signedStock } from './signed-search.ts'

/** What an eligibility check needs of a person. */
const TERMS = { operations: ['search'], see: ['identifier', 'name', 'birth_date', 'sex'], basis: 'law' } as const

const BAR = 0.65

/** Measures, prints and writes `bench/results/accounted-search.json`; false when the bar is missed. */
export async function run(args: readonly string[]): Promise<boolean> {
  const signed = await questionSigner()
  return compareSearches(args, {
    name: 'accounted-search',
    policy: { signature_policy: 'required' },
    bar: BAR,
    cut: true,
    async register(db: Database) {
      await registerAskerKey(db)
      await setGrant({ db }, { sender_id: ASKER_SENDER, namespace: NAMESPACE, terms: TERMS })
    },
    stock: (identifiers) => signedStock(identifiers, signed),
  })
}

if (import.meta.main) process.exitCode = (await run(process.argv.slice(2))) ? 0 : 1
