/**
 * How fast a signed search under a grant is: the record is cut, and its audit entry is written before the answer leaves; beside
 * the floor of a signed search, whose records are whole. docs/benchmarks.md says more.
 *
 *     npm run bench -- accounted-search --data /var/tmp/rollcall-bench
 */

import { setGrant } from '@rollcall/admin/grants/grant-changes'
import type { Database } from '@rollcall/database/database'
import { acting } from '../packages/admin/test/acting.ts'
import { compareSearches } from './search/compare-searches.ts'
import { ASKER_SENDER, NAMESPACE } from './search/question.ts'
import { questionSigner, registerAskerKey } from './search/signing.ts'
import type { Row } from './shared/results.ts'
import { signedStock } from './signed-search.ts'

/** The attributes that an eligibility check needs of a person. */
const TERMS = { operations: ['search'], see: ['identifier', 'name', 'birth_date', 'sex'], basis: 'law' } as const

/** Measures, prints and writes `accounted-search.json`. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const signed = await questionSigner()
  return compareSearches(args, {
    name: 'accounted-search',
    floor: 'floors/signed-search',
    bars: { entry: 0.7, plain: 0.55 },
    policy: { signature_policy: 'required' },
    cut: true,
    async register(db: Database) {
      await registerAskerKey(db)
      await setGrant(acting({ db }), { sender_id: ASKER_SENDER, namespace: NAMESPACE, terms: TERMS })
    },
    stock: (identifiers) => signedStock(identifiers, signed),
  })
}
