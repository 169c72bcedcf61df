/** The target of the adversary: two registries with one person, and texts that must never be seen. */

import type { JsonWebKey } from 'node:crypto'
import { afterAll, afterEach, expect } from 'vitest'
import type { TestSettings } from '../../../settings/test/config.ts'
import { ADA } from '../civil.ts'
import { type Peer, type PeerOptions, sealingPeer } from '../sealing.ts'
import { type Answer, MASTER_KEY, type TestServer, testServer } from '../server.ts'

/** The person's names and identifiers, and the words that tests put into queries that must stay secret. */
const PERSONAL = ['Okoro', 'B-5521', '"0012"', 'secret-word']

export async function world(env: TestSettings = {}): Promise<TestServer> {
  const server = await testServer({ ...env, limits: { participant_rate: 10_000, ...env.limits } })
  await server.registry('civil', [ADA])
  await server.registry('civil', [ADA], 'civil-two')
  return server
}

export interface Adversary {
  readonly server: TestServer
  /** A participant that must sign (`sealingPeer`), and whose secrets must never be seen. */
  peer(sender_id: string, options?: PeerOptions): Promise<Peer>
  /** Participants whose secrets must never be seen either. */
  readonly holders: Holder[]
  /** Answers to refused requests, which must show nothing either. */
  readonly refused: Answer[]
}

/** The target for the tests of one file, to be awaited at its top level; after each test nothing may have leaked. */
export async function adversary(env: TestSettings = {}): Promise<Adversary> {
  const server = await world(env)
  const [holders, refused]: [Holder[], Answer[]] = [[], []]
  afterEach(() => expectNothingLeaked(server, holders, refused))
  afterAll(() => server.close())
  return {
    server,
    holders,
    refused,
    async peer(sender_id, options) {
      const peer = await sealingPeer(server, sender_id, options)
      holders.push(peer)
      return peer
    },
  }
}

/** A participant, or one of its keys, with the secrets that must not be seen. */
interface Holder {
  readonly secret?: string
  readonly token?: string
  readonly signer?: { readonly privateJwk: JsonWebKey }
  readonly encryption?: { readonly privateJwk: JsonWebKey } | null
  readonly privateJwk?: JsonWebKey
}

/** Expects that neither the log nor the answers to refused requests have personal data or a secret. */
export function expectNothingLeaked(server: TestServer, holders: readonly Holder[], refused: readonly Answer[] = []): void {
  const seen = [server.logged(), ...refused.map(({ body }) => JSON.stringify(body))].join('\n')
  const secrets = holders.flatMap(({ secret, token, signer, encryption, privateJwk }) => [
    secret,
    token,
    signer?.privateJwk.d,
    encryption?.privateJwk.d,
    privateJwk?.d,
  ])
  const found = [...PERSONAL, MASTER_KEY, ...secrets].filter((text) => text !== undefined && seen.includes(text))
  expect(found).toEqual([])
}
