import { afterAll, expect, it } from 'vitest'
import { adminCaller } from '../../../test/admin-api.ts'
import { takes } from '../../../test/deliveries.ts'
import { eventRows } from '../../../test/notifications.ts'
import { testServer } from '../../../test/server.ts'

const server = await testServer()
afterAll(() => server.close())
const civil = await server.registry('civil')
const { tokens, get, post, refusal } = await adminCaller(server)
const rows = eventRows(server.database, civil)
const peer = await takes(server, 'sp.example', 'https://sp.example')

const CRITERIA = {
  reg_event_type: 'LiveBirth',
  notify_record_type: 'Person',
  filter_type: 'predicate',
  filter: [{ expression1: { attribute_name: 'sex', operator: 'eq', attribute_value: 'female' } }],
}

it('subscriptions are listed page by page', async () => {
  const codes = []
  for (const event_type of ['LiveBirth', 'Death', 'Marriage']) codes.unshift((await rows.subscribe(peer, { event_type })).code)
  const page = async (query: string) =>
    (await get(`/subscriptions?${query}`, tokens.read)).body.map(({ code }: { code: string }) => code)
  expect(await page('limit=2')).toEqual(codes.slice(0, 2))
  expect(await page(`limit=2&before=${codes[1]}`)).toEqual(codes.slice(2))
  expect(await refusal('/subscriptions?before=SUB-none', undefined, tokens.read)).toBe(
    '404 err.request.not_found there is no subscription SUB-none',
  )
})

it('a subscription is shown with its mailbox, tried out with a synthetic record, and cancelled', async () => {
  const subscribed = await rows.subscribe(peer, { sender_uri: 'https://sp.example/own', criteria: CRITERIA })
  const at = `/subscriptions/${subscribed.code}`
  const shown = await get(at, tokens.read)
  expect(shown.body.mailbox).toEqual({
    id: expect.any(String),
    state: 'open',
    closed_at: null,
    sequence: 0,
    waiting: 0,
    subscriptions: 1,
  })
  expect(shown.body).not.toHaveProperty('criteria')
  expect(await post(`${at}/test`, {}, tokens.operate)).toMatchObject({ status: 200, body: { code: subscribed.code } })
  expect((await get(at)).body.mailbox.waiting).toBe(1)
  expect(await refusal(`${at}/resume`, {})).toBe('400 err.request.bad code: the subscription is live, not suspended')
  expect((await post(`${at}/cancel`, {}, tokens.operate)).body).toMatchObject({ state: 'ended', reason: 'cancelled' })
  expect(await refusal(`${at}/cancel`, {})).toBe(`409 err.request.bad subscription ${subscribed.code} had ended before`)
  expect(await refusal(`${at}/test`, {})).toBe('409 err.request.bad code: the subscription has ended')
  expect(await refusal('/subscriptions/SUB-none/test', {})).toBe('404 err.request.not_found code: there is no such subscription')
})
