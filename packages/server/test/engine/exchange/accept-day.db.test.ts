import { randomBytes } from 'node:crypto'
import { type DayStorageUse, readDayStorageUse } from '@rollcall/participants/store/day-counts'
import { findParticipant } from '@rollcall/participants/store/participants'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SETTINGS_AGE } from '../../../../observe/test/clock.ts'
import { accepted, byIdentifier, searchFor } from '../../asynchronous.ts'
import { expectFault } from '../../expectations.ts'
import { type Answer, bearer, post, type TestParticipant, type TestServer, testServer } from '../../server.ts'

const MOST = 10
const MOST_BYTES = 100_000

let server: TestServer
beforeAll(async () => {
  server = await testServer({ limits: { accepted_requests: MOST, accepted_bytes: MOST_BYTES, participant_rate: 1_000_000 } })
  await server.registry('civil')
})
afterAll(() => server.close())

const question = (by: TestParticipant) => searchFor(by, [byIdentifier('UIN', 'U1')])
const send = (by: TestParticipant, body: object, path = 'search'): Promise<Answer> =>
  post(`${server.url}/civil/v1.0.0/registry/${path}`, body, bearer(by))
/** Counts are out of date for half a second at most. */
const outdated = () => server.clock.pass(SETTINGS_AGE)

const TEXT = `too many requests: at most ${MOST} requests that are answered later and ${MOST_BYTES} bytes of them a day`

function expectRefused(answer: Answer): void {
  expectFault(answer, 429, 'err.request.too_many_requests', TEXT)
  const wait = Number(answer.headers.get('retry-after'))
  const midnight = Math.ceil((86_400_000 - (Date.now() % 86_400_000)) / 1_000)
  expect(Number.isInteger(wait)).toBe(true)
  expect(Math.abs(wait - midnight)).toBeLessThan(5)
}

const metrics = async (): Promise<string> => (await fetch(`${server.adminUrl}/metrics`)).text()

async function keptOf({ sender_id }: TestParticipant): Promise<DayStorageUse> {
  const { db } = server.database
  const found = await findParticipant(db, sender_id)
  return readDayStorageUse(db, 'accepted_day', found?.id ?? 0)
}

/** So many requests of a participant, one after the other, and the first with its ack. */
async function fill(by: TestParticipant, count: number) {
  const first = question(by)
  const ack = await accepted(server, by, first)
  for (let sent = 1; sent < count; sent += 1) await accepted(server, by, question(by))
  outdated()
  return { first, ack }
}

describe('what a participant may have accepted in a day', () => {
  it('by number: above it 429 until the next day; what is there is acknowledged as it was', async () => {
    const peer = await server.participant('many.example')
    const { first, ack } = await fill(peer, MOST)
    expectRefused(await send(peer, question(peer)))
    expect(await accepted(server, peer, first)).toBe(ack)
    const changed = { ...question(peer), header: { ...question(peer).header, message_id: first.header.message_id } }
    const text = 'rjct.message_id.duplicate: header.message_id: was used before for another message'
    expectFault(await send(peer, changed), 400, 'err.request.bad', text)
    expectRefused(await send(peer, question(peer)))
    expect(await keptOf(peer)).toMatchObject({ messages: MOST })
    expect(await metrics()).toContain('rollcall_quota_refusals_total{quota="accepted_requests"} 2')
  })

  it('by size, of what is stored', async () => {
    const peer = await server.participant('large.example')
    // Random text, because stored messages are compressed.
    const large = searchFor(peer, [byIdentifier('UIN', randomBytes(MOST_BYTES).toString('base64'))])
    await accepted(server, peer, large)
    outdated()
    expectRefused(await send(peer, question(peer)))
    await accepted(server, peer, large)
    expect(await keptOf(peer)).toMatchObject({ messages: 1 })
    expect(await metrics()).toContain('rollcall_quota_refusals_total{quota="accepted_bytes"} 1')
  })

  it('counts for one participant alone, and not for what is answered at once', async () => {
    const peer = await server.participant('alone.example')
    await fill(peer, MOST)
    expectRefused(await send(peer, question(peer)))
    expect((await send(peer, question(peer), 'sync/search')).status).toBe(200)
    const other = await server.participant('other.example')
    await accepted(server, other, question(other))
  })

  it('is free again on the next day', async () => {
    const peer = await server.participant('tomorrow.example')
    await fill(peer, MOST)
    const body = question(peer)
    expectRefused(await send(peer, body))
    await server.database.db.pool.query('update accepted_day set day = day - 1')
    outdated()
    await accepted(server, peer, body)
    expect(await keptOf(peer)).toMatchObject({ messages: 1 })
  })

  it('is passed by nothing that comes half a second after it was reached', async () => {
    const peer = await server.participant('busy.example')
    const burst = () => Promise.all(Array.from({ length: 8 }, () => send(peer, question(peer))))
    const answers = [...(await burst()), ...(await burst())]
    const acked = answers.filter(({ status }) => status === 200)
    expect(acked.length).toBeGreaterThanOrEqual(MOST)
    outdated()
    for (const answer of await burst()) expectRefused(answer)
    expect(await keptOf(peer)).toMatchObject({ messages: acked.length })
  })
})
