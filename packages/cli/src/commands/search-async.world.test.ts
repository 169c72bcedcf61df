import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { onSearch } from '../../../client/test/callbacks.ts'
import { demoServer, otherRegistry, type Page, person } from '../../test/asking.ts'
import { rollcall, start, until } from '../../test/command.ts'

let demo: Awaited<ReturnType<typeof demoServer>>
beforeAll(async () => {
  demo = await demoServer()
})
afterAll(() => demo.close())

const QUESTION = ['search', '--identifier', 'UIN=0012']
const EVERYBODY = ['search', '--identifier', 'MOBILE=+999 555 0101', '--sort', 'given_name']
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** The line on standard error while the command waits. */
const WAITING = new RegExp(`^accepted, correlation_id ${UUID}; waiting for the callback\n$`)

describe('without a listener', () => {
  test('it prints the correlation_id, and where the answer is asked for', async () => {
    const { code, stdout, stderr } = await rollcall([...QUESTION, '--async'], demo.home.env)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(
      new RegExp(
        `^accepted, correlation_id (${UUID})\nrollcall status --correlation-id \\1 shows its state, with the options of this command for the registry and the keys\n$`,
      ),
    )
  })

  test('--json prints the ack, and --sender-uri is where the answer goes', async () => {
    const uri = 'http://127.0.0.1:9/anywhere'
    const { stdout } = await rollcall([...QUESTION, '--sender-uri', uri, '--json'], demo.home.env)
    const accepted = JSON.parse(stdout)
    expect(accepted).toMatchObject({ ack_status: 'ACK', transaction_id: expect.any(String) })
    const targets = 'select target from delivery where correlation_id = $1'
    await expect
      .poll(async () => {
        const { rows } = await demo.server.database.db.pool.query(targets, [accepted.correlation_id])
        return rows
      })
      .toEqual([{ target: uri }])
  })

  test('an address that is not registered is refused', async () => {
    const ended = await rollcall([...QUESTION, '--sender-uri', 'https://b.example/'], demo.home.env)
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'rollcall: the request was refused: err.sender_uri.invalid: header.sender_uri: is not an address registered for this sender (HTTP 400)\n',
    })
  })
})

describe('with a listener', () => {
  test('it prints the answer', async () => {
    const { code, stdout, stderr } = await rollcall([...QUESTION, '--listen', '0'], demo.home.env)
    expect(code).toBe(0)
    expect(stderr).toMatch(WAITING)
    const [head, item, ...record] = stdout.split('\n')
    expect([head, item]).toEqual(['from civil.example, signed', 'item 1: succ, 1 record'])
    expect(JSON.parse(record.join('\n'))).toEqual(person('0012', 'Ada'))
  })

  test('it waits for every page; --json is a line for each callback', async () => {
    const words = [...EVERYBODY, '--page-size', '1', '--listen', '0', '--json']
    const { stdout, stderr } = await rollcall(words, demo.home.env)
    expect(stderr).toMatch(WAITING)
    const said = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(said).toHaveLength(3)
    for (const callback of said) expect(callback).toMatchObject({ signed: true, encrypted: false })
    const items = said.flatMap(({ items }) => items)
    const pages = items.toSorted((one, other) => one.page_number - other.page_number)
    expect(pages.map(({ page_number, total_count, records }) => [page_number, total_count, records])).toEqual(
      ['0012 Ada', '0013 Bo', '0014 Cai'].map((who, index) => {
        const [uin = '', name = ''] = who.split(' ')
        return [index + 1, 3, [person(uin, name)]]
      }),
    )
    // The registry has heard that each has arrived.
    await expect
      .poll(async () => {
        const states = 'select state from delivery where correlation_id = $1'
        const { rows } = await demo.server.database.db.pool.query(states, [said[0].correlation_id])
        return rows
      })
      .toEqual(said.map(() => ({ state: 'delivered' })))
  })

  test('one page that is asked for is all that is waited for', async () => {
    const words = ['--page-size', '1', '--page', '2', '--listen', '0']
    const { code, stdout } = await rollcall([...EVERYBODY, ...words], demo.home.env)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^from civil\.example, signed\nitem 1: succ, 1 of 3 records, page 2\n\{/)
  })

  test('encrypted, with the key of the demo', async () => {
    const { code, stdout } = await rollcall([...QUESTION, '--encrypt', '--listen', '0'], demo.home.env)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^from civil\.example, signed, encrypted\nitem 1: succ, 1 record\n/)
  })

  test('Ctrl-C ends the waiting', async () => {
    // The answer goes to where nobody is.
    const words = ['--listen', '0', '--sender-uri', 'http://127.0.0.1:9/']
    const running = start([...QUESTION, ...words], demo.home.env)
    await until(running, () => (running.output().stderr.includes('waiting') ? true : null))
    const { code, stderr } = await running.stop('SIGINT')
    expect(code).toBe(1)
    expect(stderr).toMatch(/waiting for the callback\nrollcall: interrupted\n$/)
  })

  test('no callback comes: exit code 1', async () => {
    const words = ['--listen', '0', '--sender-uri', 'http://127.0.0.1:9/', '--wait', '1']
    const { code, stderr } = await rollcall([...QUESTION, ...words], demo.home.env)
    expect(code).toBe(1)
    expect(stderr.split('\n')[1]).toBe('rollcall: no answer: no callback within 1000 ms')
  })
})

describe('a registry of another make', () => {
  let close: () => Promise<void> = async () => undefined
  afterEach(() => close())

  async function registryWith(pages: readonly Page[], ack_status?: string) {
    const made = await otherRegistry(pages, ack_status)
    close = made.close
    return made
  }

  /** A page of three records in all, one on each. */
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
              pagination: { page_size: 1, page_number, total_count: 3 },
              data: { reg_records: [{ number: page_number }] },
            },
          ],
        },
      })

  test('whose last page comes before another is waited for all the same', async () => {
    const { home } = await registryWith([page(3), page(1), page(2)])
    const { code, stdout } = await rollcall([...QUESTION, '--listen', '0', '--wait', '10'], home.env)
    expect(code).toBe(0)
    expect(stdout.match(/"number": \d/g)).toEqual(['"number": 3', '"number": 1', '"number": 2'])
  })

  const REJECTED = { status: 'rjct', status_reason_code: 'rjct.version.invalid', status_reason_message: 'no\u001b[2J' }

  test.each<[string, Page]>([
    ['whole', () => onSearch({ header: REJECTED, message: { search_response: [] } })],
    ['without a message', () => ({ ...onSearch({ header: REJECTED }), message: null as never })],
  ])('that rejects a request %s: exit code 1', async (_name, rejecting) => {
    const { home } = await registryWith([rejecting])
    const { code, stderr } = await rollcall([...QUESTION, '--listen', '0'], home.env)
    expect(code).toBe(1)
    expect(stderr).toMatch(/\nrollcall: the request was rejected: rjct\.version\.invalid: no\\u001b\[2J\n$/)
  })

  test('that will send no callback: exit code 1', async () => {
    const { home } = await registryWith([], 'NACK')
    expect(await rollcall([...QUESTION, '--listen', '0'], home.env)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'rollcall: no answer: the registry took the request, and its NACK says that no callback follows\n',
    })
    const { stdout } = await rollcall([...QUESTION, '--async'], home.env)
    expect(stdout).toBe('taken, correlation_id c-1; no callback follows (NACK)\n')
  })
})

test.each<[string, readonly string[], string]>([
  [
    'a registry without a name',
    ['--url', 'http://127.0.0.1:9/x/v1.0.0', '--sender-id', 'a'],
    '--listen needs --receiver-id, the sender_id of the registry that calls back',
  ],
  [
    'a registry that cannot reach this machine',
    ['--url', 'https://registry.invalid/x/v1.0.0', '--sender-id', 'a', '--receiver-id', 'b'],
    '--listen needs --sender-uri, the address at which the registry reaches this machine',
  ],
])('%s: nothing is sent', async (_name, words, message) => {
  const ended = await rollcall([...QUESTION, '--listen', '0', ...words], { ROLLCALL_DATA: '/nowhere' })
  expect(ended).toEqual({ code: 1, stdout: '', stderr: `rollcall: ${message}\n` })
})
