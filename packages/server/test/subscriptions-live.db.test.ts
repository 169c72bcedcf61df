/** A subscription over real HTTP from its request to its end: what is published between them is notified, nothing else. */

import { addOperator } from '@rollcall/admin/operators/operators'
import { NotifyEventRequest, validator } from '@rollcall/protocol'
import { describe, expect, it, vi } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import { runHousekeeping } from '../src/app/housekeeping.ts'
import { type AsyncPeer, accepted, callbacksTo } from './asynchronous.ts'
import { about, KIND_NAMES, sentTo, subscribeFor, subscribingServer, TYPES, unsubscribeFor } from './subscribing.ts'

const { server, newPeer } = await subscribingServer({ ROLLCALL_ROLE: 'all' })
const { token } = await addOperator(acting(server.database), { name: 'publisher', roles: ['publish'] })

/** A record of each kind with this UIN. */
const RECORDS: Readonly<Record<string, (uin: string) => object>> = {
  civil: (uin) => ({ '@type': 'Person', identifier: [id(uin)] }),
  ibr: (uin) => ({ '@type': 'Member', member_identifier: [id(uin)] }),
  ess: (uin) => ({ '@type': 'Member', member_identifier: [id(uin)] }),
  social: (uin) => ({ '@type': 'Member', member_identifier: [id(uin)] }),
  disability: (uin) => ({ '@type': 'DisabledPerson', identifier: [id(uin)] }),
  farmer: (uin) => ({
    '@type': 'Farmer',
    farmer_personal_details: { member_identifier: [id(uin), id(`F-${uin}`, 'FARMER_ID')] },
  }),
}
const id = (identifier_value: string, identifier_type = 'UIN') => ({ identifier_type, identifier_value })

async function publish(kind: string, uin: string, more: object = {}): Promise<{ readonly matched: number }> {
  const record = { ...RECORDS[kind]?.(uin), ...more }
  const response = await fetch(`${server.adminUrl}/admin/v1/registries/${kind}/events`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ reg_event_type: TYPES[kind]?.reg_event_type, record }),
  })
  const body = (await response.json()) as { readonly matched: number }
  expect(response.status, JSON.stringify(body)).toBe(200)
  return body
}

const notified = ({ receiver }: AsyncPeer) =>
  callbacksTo(receiver).flatMap(({ path, envelope }) => (envelope.header.action === 'notify' ? [{ path, ...envelope }] : []))
const answerTo = async (peer: AsyncPeer, id: string) => vi.waitFor(() => sentTo(peer, id).message, { timeout: 60_000 })

describe.each(KIND_NAMES)('in a registry of kind %s', (kind) => {
  it('events are notified from the subscription to its end', async () => {
    const peer = await newPeer()
    const request = await accepted(server, peer, subscribeFor(peer, [about('E-1', {}, kind)]), 'subscribe', kind)
    const [{ subscriptions }] = (await answerTo(peer, request)).subscribe_response
    const [{ code }] = subscriptions
    expect(await publish(kind, 'E-1')).toMatchObject({ matched: 1 })
    expect(await publish(kind, 'E-2')).toMatchObject({ matched: 0 })
    await vi.waitFor(() => expect(notified(peer)).toHaveLength(1), { timeout: 60_000 })
    const [{ path, header, message }] = notified(peer)
    expect(path).toBe('/registry/notify')
    expect(validator(NotifyEventRequest).problem(message, 'message')).toBeNull()
    expect(message.notify_event).toHaveLength(1)
    const [{ reference_id, data }] = message.notify_event
    expect(JSON.stringify(data.reg_records)).toContain('E-1')
    expect(header.meta.subscriptions).toEqual({ [reference_id]: [code] })
    const end = await accepted(server, peer, unsubscribeFor(peer, [code]), 'unsubscribe', kind)
    expect(await answerTo(peer, end)).toMatchObject({ status: 'succ', subscription_status: [{ code }] })
    expect(await publish(kind, 'E-1', { last_updated: '2026-02-03T00:00:00Z' })).toMatchObject({ matched: 0 })
    expect(notified(peer)).toHaveLength(1)
  })
})

describe('at its end_time a subscription', () => {
  const IN = (hours: number): string => new Date(server.clock.date() + hours * 3_600_000).toISOString()

  it('matches nothing more, and is ended by housekeeping', async () => {
    const peer = await newPeer()
    const frequency = { start_time: IN(-1), end_time: IN(1), frequency: '*/5 * * * * *' }
    const request = await accepted(server, peer, subscribeFor(peer, [about('X-1', { frequency })]), 'subscribe')
    const [{ subscriptions }] = (await answerTo(peer, request)).subscribe_response
    const [{ code }] = subscriptions
    const stored = async () =>
      (
        await server.database.db.pool.query(
          `select state, reason, (select count(*)::integer from subscription_key where subscription = id) as keys
           from subscription where code = $1`,
          [code],
        )
      ).rows[0]
    const clean = () => runHousekeeping(server.context, new AbortController().signal)
    await clean()
    expect(await stored()).toEqual({ state: 'live', reason: null, keys: 1 })
    // Its end has come, and nobody has looked yet.
    await server.database.db.pool.query(
      `update subscription set start_at = now() - interval '2 hours', end_at = now() - interval '1 second'
       where code = $1`,
      [code],
    )
    expect(await publish('civil', 'X-1')).toMatchObject({ matched: 0 })
    await Promise.all([clean(), clean()])
    expect(await stored()).toEqual({ state: 'ended', reason: 'expired', keys: 0 })
    const end = await accepted(server, peer, unsubscribeFor(peer, [code]), 'unsubscribe')
    expect(await answerTo(peer, end)).toMatchObject({ status: 'rjct', status_reason_code: 'rjct.event.already_unsubscribed' })
  })
})
