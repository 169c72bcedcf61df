import { listDeliveries, showDelivery } from '@rollcall/admin/deliveries/deliveries'
import type { Participant } from '@rollcall/core/model/participant'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drainParticipant } from '../../../delivery/src/delivery/drain-participant.ts'
import {
  answering,
  dueNow,
  kept,
  newDelivery,
  type Receiver,
  receiver,
  type TestSender,
  takes,
  testSender,
} from '../../../server/test/deliveries.ts'
import { databaseUrl, rollcall, rollcallJson } from '../../test/command.ts'
import { described } from '../../test/described.ts'

let env: Record<string, string>
let sender: TestSender
let peer: Receiver
let a: Participant
let ids: string[]

beforeAll(async () => {
  sender = await testSender()
  const { limits: _, ...variables } = sender.env
  env = { ...variables, DATABASE_URL: databaseUrl(sender.database.connection) }
  peer = await receiver(answering(200, '{"message":{"ack_status":"ACK"}}'))
  a = await takes(sender, 'a.example', peer.url, { schedule: [] })
  const b = await takes(sender, 'b.example', peer.url)
  ids = []
  for (const participant of [a, a, a, b]) ids.push((await newDelivery(sender, participant)).id)
  await drainParticipant(sender.context, a.id)
})
afterAll(async () => {
  await peer.close()
  await sender.close()
})

const deliveries = (...words: string[]) => rollcallJson(['deliveries', ...words], env)
const state = async (at: number) => (await kept(sender, ids[at] ?? '')).state

test('lists are chosen and bounded, and say nothing of what was sent', async () => {
  const all = described(listDeliveries, await deliveries('list'))
  expect(all.map(({ id }: { id: string }) => id)).toEqual([...ids].reverse())
  expect(all[1]).toMatchObject({ participant: 'a.example', state: 'delivered', attempts: 1, page: 1 })
  expect(await deliveries('list', '--participant', 'b.example')).toMatchObject([{ id: ids[3] }])
  expect(await deliveries('list', '--state', 'delivered', '--limit', '2')).toHaveLength(2)
  expect(await deliveries('list', '--until', '2020-01-01')).toEqual([])
  const { stdout } = await rollcall(['deliveries', 'list', '--limit', '3'], env)
  expect(stdout).toContain('there are more; --limit shows them')
  expect(stdout).not.toContain('search_response')
})

test('the list has the reason of the last attempt of one that is attempted again', async () => {
  const failing = await receiver(answering(500))
  const c = await takes(sender, 'failing.example', failing.url)
  const { id } = await newDelivery(sender, c)
  await drainParticipant(sender.context, c.id)
  await failing.close()
  const { stdout } = await rollcall(['deliveries', 'list', '--participant', 'failing.example'], env)
  expect(stdout).toMatch(new RegExp(`^${id} .* pending +1 +http_5xx `, 'm'))
})

test('one is shown with its attempts; bodies only when they are asked for', async () => {
  const shown = described(showDelivery, await deliveries('show', ids[0] ?? ''))
  described(showDelivery, await deliveries('show', ids[0] ?? '', '--body'))
  expect(shown).toMatchObject({ state: 'delivered', made: [{ number: 1, status: 200, error: null }] })
  expect(JSON.stringify(shown)).not.toMatch(/search_response|ack_status/)
  const { stdout } = await rollcall(['deliveries', 'show', ids[0] ?? '', '--body'], env)
  expect(stdout).toContain('"search_response":[]')
  expect(stdout).toContain('{"message":{"ack_status":"ACK"}}')
  const { code, stderr } = await rollcall(['deliveries', 'show', 'nothing'], env)
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'rollcall: there is no delivery nothing\n' })
})

test('what was delivered is replayed with its message_id', async () => {
  expect(await deliveries('replay', ids[0] ?? '')).toEqual({ changed: 1 })
  expect(await state(0)).toBe('pending')
  await drainParticipant(sender.context, a.id)
  expect(await state(0)).toBe('delivered')
  const sent = peer.received.map(({ body }) => JSON.parse(body).header.message_id)
  expect(sent).toHaveLength(4)
  expect(sent.slice(0, 3)).toContain(sent[3])
})

test('what was given up is retried, with a schedule from its beginning', async () => {
  peer.answer = answering(500)
  await deliveries('replay', ids[1] ?? '')
  await drainParticipant(sender.context, a.id)
  expect(await state(1)).toBe('dead')
  await sender.database.db.pool.query('update participant_callback set schedule = $1', [[60]])
  await expect.poll(async () => (await sender.context.callbacks.of(a)).schedule).toEqual([60])
  expect(await deliveries('retry', '--participant', 'a.example')).toEqual({ changed: 1 })
  await drainParticipant(sender.context, a.id)
  expect(await state(1)).toBe('pending')
  await dueNow(sender, a.id)
  await drainParticipant(sender.context, a.id)
  expect(await state(1)).toBe('dead')
})

test('what waits is dropped; what it cannot be done with stays, and everything must be meant', async () => {
  expect(await deliveries('drop', ids[3] ?? '', ids[2] ?? '', 'nothing')).toEqual({ changed: 1 })
  expect([await state(2), await state(3)]).toEqual(['delivered', 'dropped'])
  const { code, stderr } = await rollcall(['deliveries', 'replay'], env)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'rollcall: name the deliveries: by ids, --participant, --since, --until or --state; or add --all for all of them\n',
  })
})

test('what is named and cannot be changed is said, and so is a participant that nobody is', async () => {
  const refused = async (words: string[], reason: string) => {
    const { code, stderr } = await rollcall(['deliveries', ...words], env)
    expect({ code, stderr }).toEqual({ code: 1, stderr: `rollcall: ${reason}\n` })
  }
  await refused(['retry', ids[0] ?? ''], 'retry needs deliveries that are pending or dead; none of these is')
  for (const word of ['list', 'drop']) {
    await refused([word, '--participant', 'c.example'], 'no participant has sender_id c.example; the nearest is a.example')
  }
  const { code, stdout } = await rollcall(['deliveries', 'replay', ids[0] ?? '', 'nothing'], env)
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout:
      '1 delivery: sent again as soon as a worker comes to them; 1 more were named and are not delivered or refused or dead or dropped or held\n',
  })
})
