import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { demoServer, person } from '../../test/asking.ts'
import { rollcall, rollcallJson } from '../../test/command.ts'

let demo: Awaited<ReturnType<typeof demoServer>>
/** Acks of a batch of two, and of a single search. */
let batch: Accepted
let single: Accepted

interface Accepted {
  readonly correlation_id: string
  readonly transaction_id: string
}

beforeAll(async () => {
  demo = await demoServer()
  const by = (...words: string[]) =>
    rollcallJson(['search', '--async', ...words.flatMap((word) => ['--identifier', word])], demo.home.env)
  batch = await by('UIN=0012', 'SHOE_SIZE=42')
  single = await by('UIN=0013')
  for (const { correlation_id } of [batch, single]) {
    await vi.waitFor(async () => {
      const { items } = await statusJson('--correlation-id', correlation_id)
      expect(items[0].status).toBe('succ')
    }, 60_000)
  }
})
afterAll(() => demo.close())

const status = (...words: string[]) => rollcall(['status', ...words], demo.home.env)
const statusJson = (...words: string[]) => rollcallJson(['status', ...words], demo.home.env)

test('it tells what became of the request, without what it says of people', async () => {
  const { code, stdout, stderr } = await status('--correlation-id', batch.correlation_id)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const [head, ...lines] = stdout.split('\n')
  expect(head).toBe('search asked of civil.example')
  expect(lines.slice(0, 3)).toEqual([
    `  transaction  ${batch.transaction_id}`,
    `  correlation  ${batch.correlation_id}`,
    '  item 1: succ, 1 record',
  ])
  expect(lines[3]).toMatch(/^ {2}item 2: rjct, rjct\.search_criteria\.invalid: /)
  expect(stdout).not.toContain('Ada')
})

test('--body prints the original response with its records', async () => {
  const { body, ...summary } = await statusJson('--transaction-id', single.transaction_id, '--body')
  expect(summary).toMatchObject({
    txn_type: 'search',
    sender_id: 'civil.example',
    ...idsOfSingle(),
    signed: true,
    items: [{ reference_id: '1', status: 'succ', records: 1 }],
  })
  expect(body.search_response[0].data.reg_records).toEqual([person('0013', 'Bo')])
})

const idsOfSingle = () => ({ transaction_id: single.transaction_id, correlation_id: single.correlation_id })

test('by items: the request that has most of them, and these items only', async () => {
  expect(await statusJson('--reference-id', '2', '--reference-id', '9')).toMatchObject({
    correlation_id: batch.correlation_id,
    items: [
      { reference_id: '2', status: 'rjct', code: 'rjct.search_criteria.invalid' },
      { reference_id: '9', status: 'rjct', code: 'rjct.reference_id.invalid' },
    ],
  })
})

test.each<[string, readonly string[]]>([
  ['a subscription', ['--subscription-code', 'S-1', '--type', 'subscribe']],
  ['a request that nobody made', ['--correlation-id', 'c-0']],
  ['a request of another type', ['--transaction-id', 'any', '--type', 'unsubscribe']],
])('%s is not known', async (_name, words) => {
  const reason = 'txnstatus_request.attribute_value: names no transaction of this type that the sender has with this registry'
  expect(await status(...words)).toEqual({
    code: 1,
    stdout: '',
    stderr: `rollcall: rejected: rjct.reference_id.invalid: ${reason}\n`,
  })
  const { code, stdout, stderr } = await status(...words, '--json')
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({ items: [{ code: 'rjct.reference_id.invalid', reason }] })
})

test.each<[readonly string[]]>([[[]], [['--transaction-id', 'a', '--correlation-id', 'b']]])(
  '%j is not one request',
  async (words) => {
    expect(await status(...words)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'rollcall: name the request, with exactly one of --transaction-id, --correlation-id, --reference-id and --subscription-code\n',
    })
  },
)
