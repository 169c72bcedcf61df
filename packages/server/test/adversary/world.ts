/** What the adversary works against: two registries with one person, and what must never be seen of it. */

import type { JsonWebKey } from 'node:crypto'
import { expect } from 'vitest'
import { type Answer, MASTER_KEY, type TestServer, testServer } from '../server.ts'

const ADA = {
  '@type': 'CRVS_Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: '0012' },
    { identifier_type: 'BRN', identifier_value: 'B-5521' },
  ],
  name: { surname: 'Okoro', given_name: 'Ada' },
  sex: 'female',
  birth_date: '2014-06-01',
}

/** The person's names and identifiers, and the words that tests put into queries that must stay secret. */
const PERSONAL = ['Okoro', 'B-5521', '"0012"', 'secret-word']

export async function world(env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  const server = await testServer({ ROLLCALL_RATE_LIMIT: '10000', ...env })
  await server.registry('civil', [ADA])
  await server.registry('civil', [ADA], 'civil-two')
  return server
}

/** Whoever holds a secret: a participant, a key of it. */
interface Holder {
  readonly secret?: string
  readonly token?: string
  readonly signer?: { readonly privateJwk: JsonWebKey }
  readonly encryption?: { readonly privateJwk: JsonWebKey } | null
  readonly privateJwk?: JsonWebKey
}

/** Nothing of a person and nothing secret is in the log or in what a refused request was answered. */
export function expectNothingLeaked(
  server: TestServer,
  holders: readonly Holder[],
  refused: readonly Answer[] = [],
): void {
  const seen = [server.logged(), ...refused.map(({ body }) => JSON.stringify(body))].join('\n')
  const secrets = holders.flatMap(({ secret, token, signer, encryption, privateJwk }) => [
    secret,
    token,
    signer?.privateJwk.d,
    encryption?.privateJwk.d,
    privateJwk?.d,
  ])
  const found = [...PERSONAL, MASTER_KEY, ...secrets].filter(
    (text) => text !== undefined && seen.includes(text),
  )
  expect(found).toEqual([])
}
