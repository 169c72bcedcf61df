import { afterEach, expect, test } from 'vitest'
import { onSearch } from '../../../client/test/callbacks.ts'
import { callingRegistry, type Page } from '../../test/asking.ts'
import { rollcall, start, until } from '../../test/command.ts'

let close: () => Promise<void> = async () => undefined
afterEach(() => close())

async function registryWith(pages: readonly Page[]) {
  const made = await callingRegistry(pages)
  close = made.close
  return made
}

/** A page of two records in all, one on each. */
const page =
  (page_number: number): Page =>
  ({ transaction_id }) =>
    onSearch({
      message: {
        transaction_id,
        search_response: [
          {
            reference_id: '1',
            timestamp: new Date().toISOString(),
            status: 'succ',
            pagination: { page_size: 1, page_number, total_count: 2 },
            data: { reg_records: [{ number: page_number }] },
          },
        ],
      },
    })

const REJECTED = {
  status: 'rjct',
  status_reason_code: 'rjct.version.invalid',
  status_reason_message: 'no\u001b[2J',
}

const QUESTION = ['search', '--identifier', 'UIN=0012']

test('without a listener it prints the correlation_id, and where the answer is asked for', async () => {
  const { registry, home } = await registryWith([])
  const uri = 'http://127.0.0.1:8090/anywhere'
  const { code, stdout, stderr } = await rollcall([...QUESTION, '--sender-uri', uri], home.env)
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: 'accepted, correlation_id c-1\nrollcall status --correlation-id c-1 says how it stands\n',
    stderr: '',
  })
  expect(registry.asked[0]).toMatchObject({
    path: '/civil/v1.0.0/registry/search',
    body: { header: { sender_id: 'sp.example', receiver_id: 'civil.example', sender_uri: uri } },
  })
  const again = await rollcall([...QUESTION, '--async', '--json'], home.env)
  expect(JSON.parse(again.stdout)).toMatchObject({ ack_status: 'ACK', correlation_id: 'c-1' })
  expect(registry.asked[1]?.body.header).not.toHaveProperty('sender_uri')
})

test('with a listener it waits for every page, and the registry hears that each has arrived', async () => {
  const { home, calls } = await registryWith([page(1), page(2)])
  const { code, stdout, stderr } = await rollcall([...QUESTION, '--listen', '0'], home.env)
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'accepted, correlation_id c-1; waiting for the callback\n',
  })
  expect(stdout).toBe(
    [
      ...['from civil.example, signed', 'item 1: succ, 1 of 2 records, page 1', '{', '  "number": 1', '}'],
      ...[
        'from civil.example, signed',
        'item 1: succ, 1 of 2 records, page 2',
        '{',
        '  "number": 2',
        '}',
        '',
      ],
    ].join('\n'),
  )
  await close()
  expect(calls.statuses).toEqual([200, 200])
})

test('--json is a line for each callback', async () => {
  const { home } = await registryWith([page(1), page(2)])
  const { stdout } = await rollcall([...QUESTION, '--listen', '0', '--json'], home.env)
  const said = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(said.map(({ items }) => items[0].records)).toEqual([[{ number: 1 }], [{ number: 2 }]])
  expect(said[0]).toMatchObject({ correlation_id: 'c-1', signed: true })
})

test.each<[string, readonly Page[], readonly string[], string]>([
  ['no callback comes', [], ['--wait', '1'], 'no answer: no callback within 1000 ms'],
  [
    'the whole request is rejected',
    [() => onSearch({ header: REJECTED, message: { search_response: [] } })],
    [],
    'the request was rejected: rjct.version.invalid: no\\u001b[2J',
  ],
  [
    'it is rejected without a message',
    [() => ({ ...onSearch({ header: REJECTED }), message: null as never })],
    [],
    'the request was rejected: rjct.version.invalid: no\\u001b[2J',
  ],
])('%s: exit code 1', async (_name, pages, words, message) => {
  const { home } = await registryWith(pages)
  const { code, stderr } = await rollcall([...QUESTION, '--listen', '0', ...words], home.env)
  expect(code).toBe(1)
  expect(stderr.split('\n')[1]).toBe(`rollcall: ${message}`)
})

test.each<[string, readonly string[], string]>([
  [
    'a registry without a name',
    ['--url', 'http://127.0.0.1:9/x/v1.0.0', '--sender-id', 'a'],
    '--listen needs --receiver-id: the sender_id of the registry that calls back',
  ],
  [
    'a registry that cannot reach this machine',
    ['--url', 'https://registry.invalid/x/v1.0.0', '--sender-id', 'a', '--receiver-id', 'b'],
    '--listen needs --sender-uri: the address at which the registry reaches this machine',
  ],
])('%s: nothing is sent', async (_name, words, message) => {
  const ended = await rollcall([...QUESTION, '--listen', '0', ...words], { ROLLCALL_DATA: '/nowhere' })
  expect(ended).toEqual({ code: 1, stdout: '', stderr: `rollcall: ${message}\n` })
})

test('Ctrl-C ends the waiting', async () => {
  const { home } = await registryWith([])
  const running = start([...QUESTION, '--listen', '0'], home.env)
  await until(running, () => (running.output().stderr.includes('waiting') ? true : null))
  const { code, stderr } = await running.stop('SIGINT')
  expect(code).toBe(1)
  expect(stderr).toMatch(/waiting for the callback\nrollcall: interrupted\n$/)
})
