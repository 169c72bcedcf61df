/** The limits of subscriptions, and many, concurrent and repeated requests. */
import { randomUUID } from 'node:crypto'
import { changeParticipant } from '@rollcall/participants/store/participants'
import { describe, expect, it } from 'vitest'
import { accepted, answerExchange, deliverAll } from '../../asynchronous.ts'
import { about, codeOf, sentTo, subscribed, subscribeFor, subscribingServer } from '../../subscribing.ts'

const { server, newPeer } = await subscribingServer({ limits: { asked_identifiers: 3_000 } })
const { pool } = server.database.db
const peer = await newPeer()

let count = 0
/** A person that no other test subscribes to. */
const uin = (): string => `U-${count++}-${randomUUID()}`

const rows = async (code: string) =>
  (
    await pool.query(
      `select person, (select count(*)::integer from subscription_key where subscription = subscription.id) as keys
       from subscription where code = $1`,
      [code],
    )
  ).rows

describe('what a participant may', () => {
  it('subscribe without a filter, where that is granted', async () => {
    const free = await newPeer({}, { unfiltered: true })
    const { filter: _, filter_type: __, ...all } = about('')
    const [item] = await subscribed(server, free, [all])
    expect(item.status).toBe('succ')
    expect(item.subscriptions[0]).not.toHaveProperty('filter')
    expect(await rows(item.subscriptions[0].code)).toMatchObject([{ person: false, keys: 1 }])
    // A filter that is written wrong is none that is left out.
    const [wrong] = await subscribed(server, free, [{ ...all, filters: { sex: 'F' } }])
    expect(wrong).toMatchObject({ status: 'rjct', status_reason_code: 'rjct.notify_details.invalid' })
  })

  it('have, is bounded; ended ones make room', async () => {
    const bounded = await newPeer({ max_subscriptions: 2 })
    const [first, second, third] = await subscribed(server, bounded, [about(uin()), about(uin()), about(uin())])
    expect([first.status, second.status]).toEqual(['succ', 'succ'])
    expect(third).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.notify_details.invalid',
      status_reason_message: 'subscribe_criteria: the sender may have at most 2 subscriptions; end others first',
    })
    await pool.query(`update subscription set state = 'ended' where code = $1`, [first.subscriptions[0].code])
    await codeOf(server, bounded, about(uin(), {}, 'social'), 'social')
    const [fifth] = await subscribed(server, bounded, [about(uin())])
    expect(fifth.status).toBe('rjct')
    await changeParticipant(server.database.db, bounded.sender_id, { max_subscriptions: Infinity })
    server.clock.pass(1_000)
    await codeOf(server, bounded, about(uin()))
  })

  it('is not more by asking at the same time', async () => {
    const bounded = await newPeer({ max_subscriptions: 3 })
    const kinds = ['civil', 'social', 'ess', 'ibr', 'farmer', 'disability']
    const ids = await Promise.all(
      kinds.map((kind) => accepted(server, bounded, subscribeFor(bounded, [about(uin(), {}, kind)]), 'subscribe', kind)),
    )
    await Promise.all(ids.map((id) => answerExchange(server, id)))
    await deliverAll(server)
    const statuses = ids.map((id) => sentTo(bounded, id).message.subscribe_response[0].status)
    expect(statuses.filter((status) => status === 'succ')).toHaveLength(3)
  })
})

it('thousands of items of one request are subscribed to, and the next ones as well', async () => {
  const many = await newPeer({ max_subscriptions: Infinity })
  const criteria = Array.from({ length: 3_000 }, (_, index) => about(`M-${index}`))
  const items = await subscribed(server, many, criteria)
  expect(items.filter(({ status }) => status === 'succ')).toHaveLength(3_000)
  const [again, other] = await subscribed(server, many, [about('M-7'), about('M-3000')])
  expect(again.status_reason_code).toBe('rjct.event.already_subscribed')
  expect(other.status).toBe('succ')
})

it('the items of one request name so many identifiers and no more', async () => {
  const many = await newPeer()
  const filterOf = (count: number) => ({ UIN: { $in: Array.from({ length: count }, (_, index) => `I-${index}`) } })
  const criteria = [1_000, 999, 998, 4, 3].map((count) => about('', { filter_type: 'expression', filter: filterOf(count) }))
  const items = await subscribed(server, many, criteria)
  expect(items.map(({ status }) => status)).toEqual(['succ', 'succ', 'succ', 'rjct', 'succ'])
  expect(items[3]).toMatchObject({
    status_reason_code: 'rjct.notify_details.invalid',
    status_reason_message:
      'subscribe_criteria.filter: a request may name at most 3000 identifiers; a value without a type counts for each type',
  })
})

it('a subscription counts in the transaction that commits its answer, or not at all', async () => {
  const person = uin()
  const id = await accepted(server, peer, subscribeFor(peer, [about(person)]), 'subscribe')
  await pool.query('alter table subscription_key rename to away')
  await expect(answerExchange(server, id)).rejects.toThrow()
  await pool.query('alter table away rename to subscription_key')
  expect((await pool.query('select from subscription where correlation_id = $1', [id])).rowCount).toBe(0)
  // The run is repeated: its own subscription is none that was there before.
  await answerExchange(server, id)
  expect(sentTo(peer, id).message.subscribe_response[0].status).toBe('succ')
})
