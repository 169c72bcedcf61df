import { afterAll, beforeAll, expect, test } from 'vitest'
import { callingRegistry } from '../../test/asking.ts'
import { rollcall } from '../../test/command.ts'

let made: Awaited<ReturnType<typeof callingRegistry>>
beforeAll(async () => {
  made = await callingRegistry([])
})
afterAll(() => made.close())

const status = (...words: string[]) => rollcall(['status', ...words], made.home.env)
const asked = () => made.registry.asked.filter(({ path }) => path.endsWith('/status')).at(-1)?.body.message

test('it tells what became of the request', async () => {
  const { code, stdout, stderr } = await status('--correlation-id', 'c-0')
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: 'search asked of civil.example\n  transaction  tx-0\n  correlation  c-0\n  item 1: pdng\n',
    stderr: '',
  })
  const { txnstatus_request } = asked()
  expect(txnstatus_request).toEqual({
    reference_id: '1',
    txn_type: 'search',
    attribute_type: 'correlation_id',
    attribute_value: 'c-0',
  })
})

test.each<[readonly string[], object]>([
  [['--transaction-id', 't-1'], { attribute_type: 'transaction_id', attribute_value: 't-1' }],
  [
    ['--reference-id', 'a', '--reference-id', 'b'],
    { attribute_type: 'reference_id_list', attribute_value: ['a', 'b'] },
  ],
  [
    ['--subscription-code', 'S-1', '--type', 'subscribe'],
    { attribute_type: 'subscription_code_list', attribute_value: ['S-1'], txn_type: 'subscribe' },
  ],
])('%j', async (words, question) => {
  const { code, stdout } = await status(...words, '--json', '--body')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    txn_type: 'search',
    transaction_id: 'tx-0',
    signed: true,
    items: [{ reference_id: '1', status: 'pdng' }],
    body: { correlation_id: 'c-0', search_response: [{ status: 'pdng' }] },
  })
  expect(asked().txnstatus_request).toMatchObject(question)
})

test.each<[readonly string[]]>([[[]], [['--transaction-id', 'a', '--correlation-id', 'b']]])(
  '%j is not one request',
  async (words) => {
    expect(await status(...words)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'rollcall: say which request, with one of --transaction-id, --correlation-id, --reference-id and --subscription-code\n',
    })
  },
)
