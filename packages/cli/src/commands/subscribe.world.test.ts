import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { notify, onSubscribe, onUnsubscribe, SIGNER, signed } from '../../../client/test/callbacks.ts'
import { ack, loopback, type Respond } from '../../../client/test/loopback.ts'
import { keyPair } from '../../../core/test/key-pairs.ts'
import type { Unsigned } from '../../../delivery/test/stranger/signing.ts'
import { demoHome, postCallback } from '../../test/asking.ts'
import { printed, rollcall, start, until } from '../../test/command.ts'

interface Asked {
  readonly header: { readonly action: string; readonly sender_uri?: string }
  // biome-ignore lint/suspicious/noExplicitAny: what was asked is what is asserted
  readonly message: any
}

/** A registry of another make: it makes every subscription as S-1, and has an event for it at once. */
let registry: Awaited<ReturnType<typeof loopback>>
let home: Awaited<ReturnType<typeof demoHome>>
let asked: Asked[] = []
/** The code and the text with which the next subscribes are rejected, one each. */
let rejections: [code: string, text: string][] = []
/** What the registry answers to the next unsubscribes, in place of ending the subscriptions; one each. */
let unsubscribed: object[] = []
const calls: Promise<unknown>[] = []

const { kty, crv, x } = SIGNER.privateJwk as Readonly<Record<string, unknown>>
const KEYS = { keys: [{ kty, crv, x, kid: SIGNER.kid, use: 'sig' }] }
const RECORD = { identifier: [{ identifier_type: 'UIN', identifier_value: '0012' }] }
const META = {
  subscriptions: { 1: ['S-1'] },
  presence: { 1: { 'S-1': 'entered' } },
  record_version: { 1: 7 },
  occurred_at: { 1: '2026-02-03T09:15:00Z' },
  recorded_at: { 1: '2026-02-03T09:15:00Z' },
  sequence: 1,
}
const rejected = ([status_reason_code, status_reason_message]: [string, string]) => ({
  subscribe_response: [
    { reference_id: '1', timestamp: '2026-02-03T09:15:00Z', status: 'rjct', status_reason_code, status_reason_message },
  ],
})

async function callBack({ header, message }: Asked): Promise<void> {
  const { action, sender_uri = '' } = header
  const { transaction_id } = message
  const post = (to: string, envelope: Unsigned) => postCallback(to, signed(envelope))
  if (action === 'unsubscribe') {
    const subscription_status = message.subscription_codes.map((code: string) => ({ code, status: 'unsubscribe' }))
    const answer = unsubscribed.shift() ?? { subscription_status }
    await post(sender_uri, onUnsubscribe({ message: { transaction_id, ...answer } }))
    return
  }
  const rejection = rejections.shift()
  await post(sender_uri, onSubscribe({ message: { transaction_id, ...(rejection && rejected(rejection)) } }))
  if (rejection === undefined)
    await post(sender_uri.replace('/on-subscribe', '/notify'), notify({ header: { meta: META } }, RECORD))
}

beforeAll(async () => {
  const respond: Respond = (request, response) => {
    if (request.path.endsWith('/jwks.json')) return KEYS
    asked.push(request.body)
    if (request.body.header.sender_uri !== undefined) calls.push(callBack(request.body).catch(() => undefined))
    return ack('ACK')(request, response)
  }
  registry = await loopback([respond])
  const sign = { kid: 'sig-1', privateJwk: keyPair('Ed25519').privateJwk }
  const who = { sender_id: 'sp.example', client_id: 'id', secret: 'secret' }
  home = await demoHome(registry.url, { ...who, sign, encrypt: keyPair('X25519') }, ['civil'])
})
afterAll(async () => {
  await Promise.allSettled(calls)
  await registry.close()
  await home.remove()
})
beforeEach(() => {
  asked = []
  rejections = []
  unsubscribed = []
})

const SUBSCRIBE = ['subscribe', 'civil', '--event', 'Death', '--record-type', 'Person']
const ONE = [...SUBSCRIBE, '--identifier', 'UIN=0012']

test('it prints events as they happen, and unsubscribes at the end', async () => {
  const running = start([...ONE, '--listen'], home.env)
  const stdout = await printed(running, /"0012"[\s\S]*\n\n/)
  expect(stdout[0]).toBeDefined()
  const { code, stdout: text, stderr } = await running.stop('SIGINT')
  expect([code, stderr]).toEqual([0, 'subscribed as S-1; Ctrl-C ends it\nunsubscribed\n'])
  const [head, presence, ...record] = text.trim().split('\n')
  expect(head).toMatch(/^\S+Z {2}Death of a Person, of 2026-02-03T09:15:00Z, signed$/)
  expect(presence).toBe('  S-1: entered')
  expect(JSON.parse(record.join('\n'))).toEqual(RECORD)
  expect(asked.map(({ header }) => header.action)).toEqual(['subscribe', 'unsubscribe'])
  const [item] = asked[0]?.message.subscribe_request ?? []
  expect(item.subscribe_criteria).toEqual({
    reg_event_type: 'Death',
    filter_type: 'idtype-value',
    filter: { type: 'UIN', value: '0012' },
    notify_record_type: 'Person',
  })
  expect(asked[1]?.message.subscription_codes).toEqual(['S-1'])
})

test('--keep keeps the subscription, --json is a line for each event, --frequency is sent along', async () => {
  const times = ['--frequency', 'daily', '--start', '2026-02-03', '--until', '2999-01-01']
  const running = start([...SUBSCRIBE, ...times, '--listen', '0', '--keep', '--json'], home.env)
  await until(running, () => (running.output().stdout.endsWith('\n') ? true : null))
  const { code, stdout, stderr } = await running.stop('SIGINT')
  expect([code, stderr]).toEqual([0, 'subscribed as S-1; Ctrl-C ends it\n'])
  expect(JSON.parse(stdout)).toMatchObject({
    sender_id: 'civil.example',
    event_type: 'Death',
    record_type: 'Person',
    record_version: 7,
    subscriptions: { 'S-1': 'entered' },
    record: RECORD,
  })
  expect(asked.map(({ header }) => header.action)).toEqual(['subscribe'])
  const [item] = asked[0]?.message.subscribe_request ?? []
  expect(item.subscribe_criteria).toEqual({
    reg_event_type: 'Death',
    notify_record_type: 'Person',
    frequency: { frequency: 'daily', start_time: '2026-02-03T00:00:00.000Z', end_time: '2999-01-01T00:00:00.000Z' },
  })
})

test('what the registry rejects is said', async () => {
  rejections = [['rjct.notify_types.invalid', 'reg_event_type: must be one of Death']]
  expect(await rollcall([...ONE, '--listen'], home.env)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'rollcall: rejected: rjct.notify_types.invalid: reg_event_type: must be one of Death\n',
  })
})

const SAME = 'SUB-4P7QD2MZ3KXRJ5TN6WYBH8CV'
const ALREADY: [string, string] = [
  'rjct.event.already_subscribed',
  `subscribe_criteria: the same is subscribed to under the code ${SAME}`,
]

test('for a subscription to the same that exists it says what to do', async () => {
  rejections = [ALREADY]
  const { code, stderr } = await rollcall([...ONE, '--listen'], home.env)
  expect([code, stderr.split('; ')]).toEqual([
    1,
    [
      `rollcall: rejected: rjct.event.already_subscribed: you have a subscription to the same, ${SAME}`,
      'its notifications go to the address with which it was made, not to this listener',
      '--replace ends it and subscribes again',
      `rollcall unsubscribe civil ${SAME} ends it`,
      `rollcall subscriptions show ${SAME} shows it to the operator of the registry\n`,
    ],
  ])
  expect(asked.map(({ header }) => header.action)).toEqual(['subscribe'])
})

test('--replace ends a subscription to the same, and subscribes again', async () => {
  rejections = [ALREADY]
  const running = start([...ONE, '--listen', '--replace'], home.env)
  await printed(running, /"0012"[\s\S]*\n\n/)
  const { code, stderr } = await running.stop('SIGINT')
  expect([code, stderr]).toEqual([
    0,
    `unsubscribed from ${SAME}, which was to the same\nsubscribed as S-1; Ctrl-C ends it\nunsubscribed\n`,
  ])
  const { message } = asked[1] ?? { message: null }
  expect(asked.map(({ header }) => header.action)).toEqual([...['subscribe', 'unsubscribe', 'subscribe', 'unsubscribe']])
  expect(message.subscription_codes).toEqual([SAME])
})

const NOT_ENDED = {
  status: 'rjct',
  status_reason_code: 'rjct.requester.invalid',
  status_reason_message: 'not ended, since you may not: S-1',
}
const REJECTED = 'rollcall: rejected: rjct.requester.invalid: not ended, since you may not: S-1\n'

test('a subscription that the registry does not end is not called unsubscribed', async () => {
  unsubscribed = [NOT_ENDED]
  const running = start([...ONE, '--listen'], home.env)
  await printed(running, /"0012"[\s\S]*\n\n/)
  const { code, stderr } = await running.stop('SIGINT')
  expect([code, stderr]).toEqual([1, `subscribed as S-1; Ctrl-C ends it\n${REJECTED}`])
})

test('what the registry says beside the end of a subscription is printed', async () => {
  unsubscribed = [{ status_reason_message: 'not ended, since they are unknown: S-2' }]
  const running = start([...ONE, '--listen'], home.env)
  await printed(running, /"0012"[\s\S]*\n\n/)
  const { code, stderr } = await running.stop('SIGINT')
  const said = 'not ended, since they are unknown: S-2\nunsubscribed\n'
  expect([code, stderr]).toEqual([0, `subscribed as S-1; Ctrl-C ends it\n${said}`])
})

test('--replace does not subscribe again when the registry does not end the other subscription', async () => {
  rejections = [ALREADY]
  unsubscribed = [NOT_ENDED]
  expect(await rollcall([...ONE, '--listen', '--replace'], home.env)).toEqual({ code: 1, stdout: '', stderr: REJECTED })
  expect(asked.map(({ header }) => header.action)).toEqual(['subscribe', 'unsubscribe'])
})

test('without a listener it prints the acknowledgement', async () => {
  const { code, stdout } = await rollcall(ONE, home.env)
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^accepted, correlation_id (\S+)\nrollcall status --correlation-id \1 --type subscribe shows its state, with the options of this command for the registry and the keys\n$/,
  )
})

test('unsubscribe says what has ended', async () => {
  expect(await rollcall(['unsubscribe', 'civil', 'S-1', 'S-2'], home.env)).toEqual({
    code: 0,
    stdout: 'code  status\nS-1   unsubscribe\nS-2   unsubscribe\n',
    stderr: '',
  })
  const elsewhere = ['--sender-uri', 'http://127.0.0.1:9/registry/on-unsubscribe']
  const { stdout } = await rollcall(['unsubscribe', 'civil', 'S-1', ...elsewhere], home.env)
  expect(stdout).toMatch(
    /^accepted, .*\nrollcall status .* --type unsubscribe shows its state, with the options of this command for the registry and the keys\n$/,
  )
})

test.each([
  [
    ['subscribe', '--event', 'Death', '--url', 'http://127.0.0.1:1/a', '--sender-id', 'a'],
    '--record-type is missing; name the record type to be sent',
  ],
  [[...SUBSCRIBE, '--until', '2999-01-01'], '--start and --until need --frequency'],
  [[...SUBSCRIBE, '--frequency', 'daily'], '--frequency needs --until, the time at which it ends'],
  [[...ONE, '--identifier', 'UIN=0013'], 'a subscription has one filter; give the command again for another one'],
  [[...SUBSCRIBE, '--where', '{'], '--where is not JSON'],
])('%j is refused', async (words, message) => {
  const { code, stderr } = await rollcall(words, home.env)
  expect(code).toBe(1)
  expect(stderr.startsWith(`rollcall: ${message}`)).toBe(true)
})
