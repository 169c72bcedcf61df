/** A civil registry of three people, and a participant whose grant the tests change. */

import type { GrantTerms } from '@rollcall/core/model/grant'
import { afterAll } from 'vitest'
import { grant } from '../../participants/test/grants.ts'
import { asyncPeer, callbacksTo, deliverAll } from './asynchronous.ts'
import { postSearch, testServer } from './server.ts'

const person = (uin: string, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: uin },
    { identifier_type: 'BRN', identifier_value: `B-${uin}` },
  ],
  name: { surname: 'Obi', given_name: uin },
  sex: 'F',
  birth_date: '1990-05-05',
  address: { locality: 'Lagos' },
  ...more,
})

const PEOPLE = [
  person('1'),
  person('2', { sex: 'M', birth_date: '1970-01-01', phone_number: ['+1 555 0100'] }),
  person('3', { phone_number: ['+1 555 0100'], parent1_identifier: { identifier_type: 'UIN', identifier_value: '2' } }),
]

/** Starts a server for the tests of one file, to be awaited at its top level; it is closed after them. */
export async function grantedServer() {
  const server = await testServer()
  afterAll(() => server.close())
  await server.registry('civil', PEOPLE)
  const peer = await asyncPeer(server, 'spmis.demo')
  const ask = (criteria: object) => postSearch(server, peer, [{ search_criteria: criteria }])
  return {
    server,
    peer,
    ask,
    item: async (criteria: object) => (await ask(criteria)).body.message.search_response[0],
    /** Grants these terms, with defaults for the others; they apply from now on. */
    async granted(terms: Partial<GrantTerms>): Promise<void> {
      await grant(server.database, peer.sender_id, 'civil', terms)
      server.clock.pass(1_000)
    },
    /** Answers an asynchronous search to its end, and returns the first item of each page. */
    async pagesOf(correlation_id: string) {
      await deliverAll(server)
      return callbacksTo(peer.receiver)
        .map(({ envelope }) => envelope.message)
        .filter((message) => message.correlation_id === correlation_id)
        .map(({ search_response }) => search_response[0])
    },
  }
}

export const byUin = (value: string) => ({ query_type: 'idtype-value', query: { type: 'UIN', value } })
export const expression = (query: object, more: object = {}) => ({ query_type: 'expression', query, ...more })
/** The first identifiers of the records in an item of an answer. */
export const uins = ({ data }: { data: { reg_records: { identifier?: { identifier_value: string }[] }[] } }) =>
  data.reg_records.map(({ identifier = [] }) => identifier[0]?.identifier_value).toSorted()
