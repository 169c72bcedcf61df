import { expect, it } from 'vitest'
import { civilServer } from '../../civil.ts'
import { bearer, post, searchRequest } from '../../server.ts'

const { server, peer } = await civilServer()

const INVALID = ['rjct', 'rjct.reference_id.invalid', 'reference_id: must be a string of 1 to 99 characters']

it.each([
  ['99 characters of two code units each', '😀'.repeat(99), ['succ', undefined, undefined], '😀'.repeat(99)],
  ['100 of them', '😀'.repeat(100), INVALID, '😀'.repeat(99)],
  ['99 units that end inside a character', `x${'😀'.repeat(120)}`, INVALID, `x${'😀'.repeat(98)}`],
])('a reference_id counts in characters and is never cut inside one: %s', async (_name, reference_id, said, echoed) => {
  const request = searchRequest(peer.sender_id, { type: 'UIN', value: '1' }, { item: { reference_id } })
  const answer = await post(`${server.url}/civil/v1.0.0/registry/sync/search`, request, bearer(peer))
  expect(answer.status).toBe(200)
  const [item] = answer.body.message.search_response
  expect([item.status, item.status_reason_code, item.status_reason_message]).toEqual(said)
  expect(item.reference_id).toBe(echoed)
})
