/** Participants with many slow searches: they wait for each other, nobody waits for them, and they come to an end. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rawConnection } from '../../../../engine/test/raw-http.ts'
import { holdTable, lockWaits } from '../../../../keys/test/held-table.ts'
import type { TestSettings } from '../../../../settings/test/config.ts'
import { bearer, post, postSearch, searchRequest, type TestParticipant, type TestServer, testServer } from '../../server.ts'

let server: TestServer
let hog: TestParticipant
let other: TestParticipant
/** Lets the searches of `civil` go on. */
let proceed: () => Promise<void>

const PEOPLE = [{ identifier: [{ identifier_type: 'UIN', identifier_value: '1' }], sex: 'female' }]

async function start(env: TestSettings): Promise<void> {
  server = await testServer(env)
  hog = await server.participant('hog.example')
  other = await server.participant('other.example')
  await server.registry('civil', PEOPLE)
  await server.registry('civil', PEOPLE, 'other')
}

/** Searches of `civil` wait from now on until `proceed`. */
beforeEach(async () => {
  proceed = (await holdTable(server.database)).release
})
afterEach(() => proceed())
afterAll(() => server.close())

const slow = { search_criteria: { query_type: 'expression', query: { sex: 'F' } } }
const lookUp = { search_criteria: { query_type: 'idtype-value', query: { type: 'UIN', value: '1' } } }
const many = (count: number): object[] => Array.from({ length: count }, () => slow)

async function ask(by: TestParticipant, items: readonly object[], namespace = 'civil'): Promise<string[]> {
  const { status, body } = await postSearch(server, by, items, namespace)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.message.search_response.map(told)
}

const told = (item: { status: string; status_reason_code?: string; status_reason_message?: string }) =>
  item.status === 'succ' ? 'succ' : `${item.status_reason_code} ${item.status_reason_message}`

const standing = () => lockWaits(server.database)

/** Searches that the database has answered. */
async function answered(): Promise<number> {
  const { text } = await server.context.metrics.render()
  return Number(/rollcall_search_seconds_count\{kind="civil",outcome="answered"\} (\d+)/.exec(text)?.[1] ?? 0)
}

describe('slow searches of one participant', () => {
  beforeAll(() => start({ limits: { search_timeout: 2 } }))
  afterAll(() => server.close())

  it('hold half of the connections; another participant is answered before them', async () => {
    const order: string[] = []
    const hogged = [1, 2, 3].map(async () => {
      const answers = await ask(hog, many(16))
      order.push('hog')
      return answers
    })
    await expect.poll(standing).toBe(3)
    expect(await ask(other, many(5), 'other')).toEqual(Array(5).fill('succ'))
    expect(await ask(other, [slow, lookUp], 'other')).toEqual(['succ', 'succ'])
    // The hog itself is not kept from looking up identifiers.
    expect(await ask(hog, [lookUp], 'other')).toEqual(['succ'])
    order.push('other')
    expect(await standing()).toBe(3)
    await proceed()
    expect((await Promise.all(hogged)).flat()).toEqual(Array(48).fill('succ'))
    expect(order).toEqual(['other', 'hog', 'hog', 'hog'])
  })

  it('that wait too long for the others make the request 503: it was not begun, and may be sent again', async () => {
    const begun = ask(hog, many(3))
    await expect.poll(standing).toBe(3)
    const refused = await postSearch(server, hog, [slow])
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect(refused.body.message.error).toEqual({
      code: 'err.service.unavailable',
      message:
        'a search was not begun within 2 seconds: too many slow searches of this participant are under way; send fewer at a time',
    })
    expect(await standing()).toBe(3)
    await proceed()
    expect(await begun).toEqual(['succ', 'succ', 'succ'])
  })
})

describe('the searches of one request', () => {
  beforeAll(() => start({ limits: { batch_search_time: 1 } }))

  it('are begun for a time; what is left is refused, and identifiers are looked up', async () => {
    const asked = ask(hog, [...many(6), lookUp])
    await expect.poll(standing).toBe(3)
    server.clock.pass(1_100)
    await proceed()
    const late =
      'rjct.search_criteria.invalid search_criteria.query: not begun: the searches of this request took 1 seconds; send fewer slow ones in one request'
    expect(await asked).toEqual(['succ', 'succ', 'succ', late, late, late, 'succ'])
    expect(await ask(hog, [slow])).toEqual(['succ'])
  })

  it('are not begun when the peer has gone, and are when it asks again', async () => {
    const search_request = many(16).map((item, index) => ({
      reference_id: `r-${index}`,
      timestamp: new Date().toISOString(),
      ...item,
    }))
    const request = searchRequest(hog.sender_id, {}, { header: { total_count: 0 }, message: { search_request } })
    const path = '/civil/v1.0.0/registry/sync/search'
    const before = await answered()
    const body = JSON.stringify(request)
    const raw = await rawConnection(server.running.port)
    raw.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer(hog).Authorization}\r\n`,
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    await expect.poll(standing).toBe(3)
    raw.destroy()
    await raw.dropped()
    await proceed()
    await expect.poll(async () => (await answered()) - before).toBe(3)

    const again = await post(`${server.url}${path}`, request, bearer(hog))
    expect([again.status, again.body.header.status]).toEqual([200, 'succ'])
    expect(again.body.message.search_response.map(told)).toEqual(Array(16).fill('succ'))
    expect(await answered()).toBe(before + 3 + 16)
    expect(server.logged()).not.toContain('"level":50')
  })
})
