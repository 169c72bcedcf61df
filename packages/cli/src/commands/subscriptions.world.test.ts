import { cancelSubscription, listSubscriptions, showSubscription } from '@rollcall/admin/events/subscriptions'
import { changeParticipantSubscriptions } from '@rollcall/admin/participants/subscriptions'
import { expect, test } from 'vitest'
import { MASTER_KEY } from '../../../server/test/server.ts'
import { about, codeOf, subscribed, subscribingServer } from '../../../server/test/subscribing.ts'
import { databaseUrl, rollcall, rollcallJson } from '../../test/command.ts'
import { described } from '../../test/described.ts'

const { server, newPeer } = await subscribingServer()
const env = { DATABASE_URL: databaseUrl(server.database.connection), ROLLCALL_MASTER_KEY: MASTER_KEY }
const peer = await newPeer()
const other = await newPeer()
const frequency = { start_time: '2020-01-01T00:00:00Z', end_time: '2099-01-01T00:00:00Z', frequency: 'daily' }
const codes = [
  await codeOf(server, peer, about('SECRET-1')),
  await codeOf(server, peer, about('SECRET-2', { frequency }, 'social'), 'social'),
  await codeOf(server, other, about('SECRET-3')),
]
const [first = '', held = '', others = ''] = codes

const subscriptions = (...words: string[]) => rollcallJson(['subscriptions', ...words], env)
const refusal = async (...words: string[]) => {
  const { code, stderr } = await rollcall(words, env)
  expect(code).not.toBe(0)
  return stderr
}

test('lists are chosen and bounded, and say nothing of whom they are about', async () => {
  const all = described(listSubscriptions, await subscriptions('list'))
  expect(all.map(({ code }: { code: string }) => code)).toEqual(codes.toReversed())
  expect(all[1]).toMatchObject({
    participant: peer.sender_id,
    namespace: 'social',
    event_type: 'REGISTER',
    record_type: 'Member',
    state: 'live',
    reason: null,
    cron: '0 0 0 * * * *',
    end_at: '2099-01-01T00:00:00.000Z',
  })
  expect(await subscriptions('list', '--participant', other.sender_id)).toMatchObject([{ code: others }])
  expect(await subscriptions('list', '--namespace', 'social')).toMatchObject([{ code: held }])
  expect(await subscriptions('list', '--state', 'ended')).toEqual([])
  const { stdout } = await rollcall(['subscriptions', 'list', '--limit', '2'], env)
  expect(stdout).toContain('there are more; --limit shows them')
  expect(stdout).not.toContain('SECRET')
  expect(await refusal('subscriptions', 'list', '--namespace', 'nowhere')).toContain('nowhere')
  expect(await refusal('subscriptions', 'list', '--participant', 'nobody')).toContain('no participant has sender_id nobody')
})

test('one is shown; its criteria only when they are asked for', async () => {
  const shown = described(showSubscription, await subscriptions('show', held))
  expect(shown).toMatchObject({ code: held, sender_uri: null, reference_id: 's-0', waiting: 0 })
  expect(JSON.stringify(shown)).not.toContain('SECRET')
  const whole = described(showSubscription, await subscriptions('show', held, '--criteria'))
  expect(whole.criteria).toEqual(about('SECRET-2', { frequency }, 'social'))
  const { stdout } = await rollcall(['subscriptions', 'show', held], env)
  expect(stdout).toContain('cron            0 0 0 * * * *')
  expect(await refusal('subscriptions', 'show', 'NO-SUCH')).toContain('there is no subscription NO-SUCH')
})

test('one is cancelled, once, and may be subscribed to again', async () => {
  expect(described(cancelSubscription, await subscriptions('cancel', first))).toMatchObject({
    code: first,
    state: 'ended',
    reason: 'cancelled',
    ended_at: expect.any(String),
  })
  expect(await subscriptions('list', '--state', 'ended')).toMatchObject([{ code: first }])
  expect(await refusal('subscriptions', 'cancel', first)).toContain(`subscription ${first} had ended before`)
  expect(await codeOf(server, peer, about('SECRET-1'))).not.toBe(first)
})

test('what a participant may have is shown and changed', async () => {
  const settings = (...words: string[]) => rollcallJson(['participant', 'subscriptions', peer.sender_id, ...words], env)
  expect(described(changeParticipantSubscriptions, await settings())).toEqual({
    sender_id: peer.sender_id,
    max_subscriptions: null,
  })
  await rollcallJson(['grant', 'set', peer.sender_id, 'civil', '--template', 'everything'], env)
  expect(await settings('--max', '0')).toMatchObject({ max_subscriptions: 0 })
  server.clock.pass(1_000)
  const { filter: _, filter_type: __, ...everything } = about('')
  const [item] = await subscribed(server, peer, [everything])
  expect(item.status_reason_message).toContain('the sender may have at most 0 subscriptions')
  expect(await settings('--max', 'unlimited')).toMatchObject({ max_subscriptions: 'unlimited' })
  server.clock.pass(1_000)
  const [made] = await subscribed(server, peer, [everything])
  expect(made.status).toBe('succ')
  expect(await settings('--max', 'default')).toMatchObject({ max_subscriptions: null })
  expect(await refusal('participant', 'subscriptions', peer.sender_id, '--max', '-1')).toContain(
    'It must be a whole number, unlimited or default.',
  )
  expect(await refusal('participant', 'subscriptions', 'nobody')).toContain('no participant has sender_id nobody')
})
