import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { testDatabase } from '../../../keys/test/postgres.ts'
import { answering, type Receiver, receiver } from '../../../server/test/deliveries.ts'
import { databaseUrl, rollcall, rollcallJson } from '../../test/command.ts'

let env: Record<string, string>
let close: () => Promise<void>
let peer: Receiver

beforeAll(async () => {
  const database = await testDatabase()
  close = database.close
  env = { DATABASE_URL: databaseUrl(database.connection) }
  await rollcallJson(['registry', 'add', 'civil', '--sender-id', 'civil.example'], env)
  await rollcallJson(['participant', 'add', 'a.example', '--name', 'A'], env)
  const words = ['--port', 'any', '--plain-http', '--loopback']
  await rollcallJson(['participant', 'host', 'allow', 'a.example', '127.0.0.1', ...words], env)
})
afterEach(() => peer?.close())
afterAll(() => close())

const callback = (...words: string[]) => rollcallJson(['participant', 'callback', 'a.example', ...words], env)
const refusal = async (words: readonly string[], input = '') => {
  const { code, stdout, stderr } = await rollcall(['participant', 'callback', 'a.example', ...words], env, input)
  expect(stdout).toBe('')
  return { code, stderr }
}

test('settings begin empty, and are changed word by word', async () => {
  const none = { allowed: [], default_url: null, auth: 'none', concurrency: 8, rate: 200 }
  const notified = { notify_url: null, notify_items: 100, notify_bytes: 1_048_576, notify_unlisted: false }
  const others = { timeout_ms: 10_000, schedule: null, ...notified }
  expect(await callback()).toEqual({ sender_id: 'a.example', ...none, ...others })
  const numbers = ['--concurrency', '3', '--rate', '50', '--timeout', '2000', '--schedule', '1,2.5,60']
  const urls = ['https://sp.example/cb', 'http://127.0.0.1:*']
  expect(await callback('--allow', ...urls, '--default-url', 'https://sp.example/dci', ...numbers)).toEqual({
    sender_id: 'a.example',
    allowed: urls,
    default_url: 'https://sp.example/dci',
    auth: 'none',
    concurrency: 3,
    rate: 50,
    timeout_ms: 2_000,
    schedule: [1, 2.5, 60],
    ...notified,
  })
  const about = ['--notify-url', 'https://sp.example/events', '--notify-items', '20', '--notify-bytes', '65536']
  expect(await callback(...about, '--notify-unlisted', 'send')).toMatchObject({
    notify_url: 'https://sp.example/events',
    notify_items: 20,
    notify_bytes: 65_536,
    notify_unlisted: true,
  })
  expect(await callback('--notify-url', 'none', '--notify-unlisted', 'omit')).toMatchObject({
    notify_url: null,
    notify_unlisted: false,
  })
  const back = ['--disallow', 'https://sp.example/cb', '--default-url', 'none', '--schedule', 'default']
  expect(await callback(...back)).toMatchObject({ allowed: urls.slice(1), default_url: null, schedule: null })
})

test('credentials come from files, are for one origin, and are never shown', async () => {
  const words = ['--auth', 'bearer', '--token-file', '-', '--origin', 'https://sp.example']
  const { code, stdout } = await rollcall(['participant', 'callback', 'a.example', ...words], env, 'geheim\n')
  expect(code).toBe(0)
  expect(stdout).toContain('auth            bearer')
  expect(stdout).not.toContain('geheim')
  expect(await callback('--auth', 'none')).toMatchObject({ auth: 'none' })
})

test.each([
  [['--allow', 'ftp://sp.example'], 'ftp://sp.example is no http or https address without credentials, query and fragment'],
  [['--disallow', 'https://b.example'], 'https://b.example is not among the allowed addresses'],
  [['--notify-url', 'sp.example'], 'notify_url: must be http or https without credentials and fragment'],
  [
    ['--notify-url', 'https://10.0.0.1/'],
    'the address must be reachable on the public network; rollcall participant host allow permits that host, with --private in a private network, with --loopback on this machine',
  ],
  [
    ['--default-url', 'https://10.0.0.1/'],
    'the address must be reachable on the public network; rollcall participant host allow permits that host, with --private in a private network, with --loopback on this machine',
  ],
  [
    ['--auth', 'bearer', '--token-file', '-', '--origin', 'sp.example'],
    'origin must say whom the credentials are for, such as https://spmis.example.org',
  ],
  [['--auth', 'bearer', '--origin', 'https://sp.example'], '--auth bearer needs --token-file'],
  [['--token-file', '-'], '--token-file needs --auth'],
  [['--auth', 'mtls', '--scope', 'x'], '--scope does not belong to --auth mtls'],
])('%j is refused', async (words, told) => {
  expect(await refusal(words, 'x')).toEqual({ code: 1, stderr: `rollcall: ${told}\n` })
})

test('a round trip is told step by step', async () => {
  peer = await receiver(answering(200))
  await callback('--default-url', peer.url)
  const tried = await rollcallJson(['participant', 'test', 'a.example'], env)
  expect(tried).toMatchObject({ ok: true, status: 200, target: `${peer.url}/registry/on-search` })
  expect(tried.steps.map(({ step, ok }: { step: string; ok: boolean }) => [step, ok])).toEqual([
    ['address', true],
    ['network', true],
    ['credentials', true],
    ['tls', true],
    ['answer', true],
  ])
  const sent = JSON.parse(peer.received[0]?.body ?? '')
  expect(sent.header).toMatchObject({ action: 'on-search', total_count: 0, sender_id: 'civil.example' })
  expect(sent.message.search_response).toEqual([])
  expect(sent.signature).toContain('kidId="civil.example|')

  peer.answer = answering(503)
  const failed = await rollcall(['participant', 'test', 'a.example'], env)
  expect(failed.code).toBe(1)
  expect(failed.stdout).toMatch(/failed {2}answer {6}status 503 after \d+ ms: it would be attempted again/)
  const elsewhere = await rollcall(['participant', 'test', 'a.example', '--to', 'https://b.example/'], env)
  expect(elsewhere.code).toBe(1)
  expect(elsewhere.stdout).toContain('header.sender_uri: is not an address registered for this sender')
})
