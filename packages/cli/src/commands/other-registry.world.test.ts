/** Asking registries that serve other paths, or that write headers again before they verify. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { finding, type Loopback, loopback } from '../../../client/test/loopback.ts'
import { rollcall } from '../../test/command.ts'

let registry: Loopback
beforeAll(async () => {
  registry = await loopback([finding([{ a: 1 }])])
})
afterAll(() => registry.close())

const search = (...words: string[]) =>
  rollcall([
    ...['search', '--url', registry.base_url, '--sender-id', 'sp.example', '--verify', 'off'],
    ...['--identifier', 'UIN=1', ...words],
  ])

test('--path is asked, and --outgoing writes the header', async () => {
  expect(await search('--path', 'registry=dci', '--path', 'txn-status=reg/txn/status')).toMatchObject({ code: 0 })
  expect(await search('--path', 'search=reg/sync/search', '--outgoing', 'reserialised')).toMatchObject({ code: 0 })
  const [first, second] = registry.asked
  expect([first?.path, second?.path]).toEqual(['/civil/v1.0.0/dci/sync/search', '/civil/v1.0.0/reg/sync/search'])
  expect(first?.body.header).not.toHaveProperty('receiver_id')
  expect(second?.body.header).toMatchObject({ receiver_id: null, message_ts: expect.stringMatching(/:\d\dZ$/) })
})

test.each([
  [['--path', 'dci'], 2, "'dci' is invalid. It must be a name and a path, such as registry=dci."],
  [
    ['--path', 'dci=reg'],
    1,
    'paths.dci: must be the name of an operation, such as txn-status, or the beginning of paths, such as registry',
  ],
  [['--outgoing', 'again'], 2, 'Allowed choices are usual, reserialised.'],
])('%j is refused', async (words, code, message) => {
  const refused = await search(...words)
  expect(refused.code).toBe(code)
  expect(refused.stderr).toContain(message)
})
