/** The set-up of tests of the forms of a search: a server with people and a household. */
import { expect } from 'vitest'
import { type CivilServer, civilServer } from './civil.ts'
import { postSearch } from './server.ts'

const person = (uin: string, born: string, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  name: { given_name: uin },
  birth_date: born,
  phone_number: ['+1 555 0100'],
  ...more,
})
export const PEOPLE = [
  person('3', '1990-05-05'),
  person('1', '1970'),
  person('2', '2001-01-01'),
  person('007', '1980-01-01', { phone_number: [] }),
  person('9007199254740992', '1985', { phone_number: [], note: '</script> \u2028 "quoted" 中文 é' }),
]
export const HOUSEHOLD = {
  '@type': 'spdci:Group',
  group_identifier: [{ identifier_type: 'HOUSEHOLD_ID', identifier_value: 'H-1' }],
  member_list: [{ member_identifier: [{ identifier_type: 'UIN', identifier_value: 'U-7' }] }],
}
export const MEMBER = { '@type': 'Member', member_identifier: [{ identifier_type: 'UIN', identifier_value: 'U-7' }] }

const BY_UIN = { type: 'UIN', value: '007' }

export interface SearchedServer extends CivilServer {
  /** The answer to one item; by default it looks up 007 in `civil`. */
  // biome-ignore lint/suspicious/noExplicitAny: the shapes of answers are what the tests are about
  askOne(criteria: object, item?: object, namespace?: string): Promise<any>
}

/** A server with these records, for the tests of one file (`civilServer`). */
export async function searchedServer(): Promise<SearchedServer> {
  const civil = await civilServer(PEOPLE, { limits: { timestamp_window: 3600 } })
  const { server, peer } = civil
  await server.registry('social', [HOUSEHOLD, MEMBER])
  return {
    ...civil,
    async askOne(criteria, item = {}, namespace = 'civil') {
      const search_criteria = { query_type: 'idtype-value', query: BY_UIN, ...criteria }
      const answer = await postSearch(server, peer, [{ search_criteria, ...item }], namespace)
      expect(answer.status).toBe(200)
      return answer.body.message.search_response[0]
    },
  }
}

/** The UINs of the people that an item found. */
export const uins = (item: { data: { reg_records: { name: { given_name: string } }[] } }): string[] =>
  item.data.reg_records.map(({ name }) => name.given_name)
