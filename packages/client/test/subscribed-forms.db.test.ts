/** Every form of a filter that the real server takes, from the subscription to its end, with our own client and receiver. */

import { publishEvent } from '@rollcall/admin/events/publish'
import type { JsonValue } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import { type TestServer, testServer } from '../../server/test/server.ts'
import { itemsOrThrow, onEvent } from '../src/index.ts'
import { callbackWorld } from './callback-world.ts'
import { failure } from './world.ts'

const person = (last_updated: string) => ({
  '@type': 'Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: '0013' }],
  name: { surname: 'Okoro', given_name: 'Ada' },
  last_updated,
})

let server: TestServer
beforeAll(async () => {
  server = await testServer({ ROLLCALL_ROLE: 'all' })
  await server.registry('civil', [person('2026-01-01T00:00:00Z')])
})
afterAll(() => server.close())

const compare = (attribute_name: string, operator: string, attribute_value: JsonValue) => {
  return { attribute_name, operator, attribute_value }
}
const ADA = compare('given_name', 'eq', 'Ada')

/** Each finds the person, and is written in another way. */
const FORMS: readonly (readonly [string, JsonValue])[] = [
  ['an identifier', { type: 'UIN', value: '0013' }],
  ['an identifier as records have it', { identifier_type: 'UIN', identifier_value: '0013' }],
  ['an identifier as a field', { field: 'UIN', operator: 'eq', value: '0013' }],
  ['an identifier within a type', { type: 'idtype', value: { id_type: 'UIN', id_value: '0013' } }],
  ['one comparison', ADA],
  ['a list of comparisons', [{ expression1: ADA }]],
  ['a list with an operator beyond the documented ones', [{ expression1: compare('given_name', 'ne', 'Bo') }]],
  ['one element of a list', { expression1: ADA }],
  ['a typed list', { type: 'predicate', value: [{ expression1: ADA }] }],
  [
    'a typed expression',
    { type: 'ns:org:QueryType:expression', value: { expression: { collection: 'Person', query: { surname: 'Okoro' } } } },
  ],
  ['an expression without its type', { collection: 'Person', query: { surname: { $eq: 'Okoro' } } }],
  ['a bare object', { surname: 'Okoro' }],
  ['a bare operator', { $and: [{ surname: 'Okoro' }, { given_name: 'Ada' }] }],
  ['camel case', { givenName: 'Ada' }],
  ['a GraphQL text', '{ person(UIN: "0013") { birth_date } }'],
  ['a JSON text', '{"surname": "Okoro"}'],
]

/** Runs on a day on which no test runs. */
const frequency = (end_time: string) => ({ start_time: '2090-01-01T00:00:00Z', end_time, frequency: '0 0 1 1 *' })

const storedCriteria = async (code: string): Promise<unknown> => {
  const { rows } = await server.database.db.pool.query('select criteria from subscription where code = $1', [code])
  return JSON.parse(rows[0].criteria)
}

it.each(FORMS)('%s is subscribed to, received, renewed and withdrawn', async (_name, filter) => {
  const codes: string[] = []
  const notify = onEvent({ UPDATE: (_record, { subscriptions }) => void codes.push(...Object.keys(subscriptions)) })
  const { asking } = await callbackWorld(server, { receiver: () => ({ handlers: { notify } }) })
  // The types of the client are those of the documented forms.
  const criteria = { reg_event_type: 'UPDATE', filter: filter as never, notify_record_type: 'Person' }
  const subscribe = async (more: object = {}) =>
    itemsOrThrow(await asking.subscribe({ ...criteria, ...more }))[0]?.subscriptions?.[0]

  const made = await subscribe()
  const code = made?.code ?? ''
  expect(made?.filter).toEqual(filter)
  expect(await storedCriteria(code)).toEqual(criteria)
  expect(await failure(subscribe())).toMatchObject({ code: 'rjct.event.already_subscribed' })
  const question = { txn_type: 'subscribe', attribute_type: 'subscription_code_list', attribute_value: code } as const
  expect(itemsOrThrow(await asking.txnStatus(question))).toMatchObject([{ subscriptions: [{ code, filter }] }])

  await publishEvent(acting(server.context), {
    namespace: 'civil',
    reg_event_type: 'UPDATE',
    record: person(new Date().toISOString()),
  })
  await expect.poll(() => codes, { timeout: 60_000 }).toEqual([code])

  const held = await subscribe({ frequency: frequency('2095-01-01T00:00:00Z') })
  const renewed = await subscribe({ frequency: frequency('2096-01-01T00:00:00Z') })
  expect(renewed).toMatchObject({ code: held?.code, frequency: frequency('2096-01-01T00:00:00Z') })
  expect(renewed?.filter).toEqual(filter)

  const ended = await asking.unsubscribe([code, held?.code ?? ''])
  expect(ended.message.subscription_status?.map((one) => one.code)).toEqual([code, held?.code])
})
