/** The examples of docs/asynchronous.md, one after the other, as they stand there. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AsyncPeer, accepted, answerExchange, asyncPeer, callbacksTo, deliverAll } from './asynchronous.ts'
import { bearer, post, type TestServer, testServer } from './server.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/asynchronous.md'), 'utf8')

/** The example under a marker. */
function example(marker: string) {
  const found = page.split(`<!-- ${marker} -->\n\`\`\`json\n`)[1]?.split('\n```')[0]
  if (found === undefined) throw new Error(`no example ${marker}`)
  return JSON.parse(found)
}

/** Each id by the order in which it comes, and no times: the page has its own. */
function masked(value: unknown): unknown {
  const ids: string[] = []
  const text = JSON.stringify(value)
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
      if (!ids.includes(id)) ids.push(id)
      return `id ${ids.indexOf(id)}`
    })
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
  return JSON.parse(text)
}

let server: TestServer
let peer: AsyncPeer
let correlation_id: string

beforeAll(async () => {
  server = await testServer()
  await server.registry(
    'civil',
    ['Ada', 'Ben', 'Cid'].map((given_name, index) => ({
      '@type': 'CRVS_Person',
      identifier: [{ identifier_type: 'UIN', identifier_value: `001${index + 2}` }],
      name: { given_name, surname: 'Okoro' },
    })),
  )
  peer = await asyncPeer(server, 'spmis.demo')
})
afterAll(async () => {
  await peer.receiver.close()
  await server.close()
})

const unsigned = ({ signature: _signature, ...envelope }: { signature: string }) => envelope
const url = (path: string) => `${server.url}/civil/v1.0.0/registry/${path}`

test('every example is JSON', () => {
  const examples = [...page.matchAll(/```json\n([\s\S]*?)\n```/g)].map(([, text = '']) => text)
  expect(examples).toHaveLength(7)
  for (const text of examples) expect(() => parseJson(text)).not.toThrow()
})

test('the request is acknowledged', async () => {
  const answer = await post(url('search'), example('request: search'), bearer(peer))
  expect(masked(answer.body)).toEqual(masked(example('answer: ack')))
  correlation_id = answer.body.message.correlation_id
  expect(await accepted(server, peer, example('request: search'))).toBe(correlation_id)
})

test('its answer comes in two callbacks', async () => {
  await answerExchange(server, correlation_id)
  // An attempt that took more than a second leaves the next one to the dispatcher.
  await deliverAll(server)
  const envelopes = callbacksTo(peer.receiver).map(({ envelope }) => unsigned(envelope))
  expect(envelopes.map(masked)).toEqual([1, 2].map((number) => masked(example(`callback: ${number}`))))
})

test('its status is told', async () => {
  const answer = await post(url('sync/txn/status'), example('request: sync/txn/status'), bearer(peer))
  expect(masked(unsigned(answer.body))).toEqual(masked(example('answer: status')))
})

test('what is not there is told as the page says', async () => {
  const question = example('request: sync/txn/status')
  question.header.message_id = 'm-951'
  question.message.txnstatus_request = {
    ...question.message.txnstatus_request,
    attribute_type: 'transaction_id',
    attribute_value: 'tx-nobody',
  }
  const answer = await post(url('sync/txn/status'), question, bearer(peer))
  const told = [...page.matchAll(/```json\n([\s\S]*?)\n```/g)].at(-1)?.[1] ?? ''
  expect(masked(answer.body.message.txnstatus_response)).toEqual(masked(JSON.parse(told)))
})
