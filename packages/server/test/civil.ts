/** The beginning of tests of requests: a server with a civil registry, and a participant who may ask it. */

import { afterAll } from 'vitest'
import type { TestSettings } from '../../settings/test/config.ts'
import { type Answer, bearer, post, searchRequest, type TestParticipant, type TestServer, testServer } from './server.ts'

/** A person of a civil registry. */
export const ADA = {
  '@type': 'CRVS_Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: '0012' },
    { identifier_type: 'BRN', identifier_value: 'B-5521' },
  ],
  name: { surname: 'Okoro', given_name: 'Ada' },
  sex: 'female',
  birth_date: '2014-06-01',
}

export interface CivilServer {
  readonly server: TestServer
  /** The participant `spmis.demo`. */
  readonly peer: TestParticipant
  /** The address of synchronous searches in the registry. */
  readonly url: string
  /** Sends a body to `url` as the participant. */
  send(body: string | Uint8Array<ArrayBuffer> | object, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** A valid search for Ada, which tests change. */
  search(changes?: Parameters<typeof searchRequest>[2]): ReturnType<typeof searchRequest>
}

/**
 * A server for the tests of one file, to be awaited at its top level; it is closed after them.
 * @param documents of the registry `civil`
 * @param env limits and switches, as environment variables
 */
export async function civilServer(documents: readonly object[] = [], env: TestSettings = {}): Promise<CivilServer> {
  const server = await testServer(env)
  afterAll(() => server.close())
  const peer = await server.participant('spmis.demo')
  await server.registry('civil', documents)
  const url = `${server.url}/civil/v1.0.0/registry/sync/search`
  return {
    server,
    peer,
    url,
    send: (body, headers = {}) => post(url, body, { ...bearer(peer), ...headers }),
    search: (changes = {}) => searchRequest(peer.sender_id, { type: 'UIN', value: '0012' }, changes),
  }
}
