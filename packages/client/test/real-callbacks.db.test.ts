/** Asynchronous exchanges with the real server on real PostgreSQL: its callbacks come to a receiver on loopback. */

import { publishEvent } from '@rollcall/admin/events/publish'
import { MAILBOXES_NOTIFY_PREFIX, WORK_CHANNEL } from '@rollcall/database/queue'
import type { Jwk } from '@rollcall/protocol'
import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import type { Peer } from '../../server/test/sealing.ts'
import { type TestServer, testServer } from '../../server/test/server.ts'
import {
  type ClientOptions,
  identifier,
  itemsOrThrow,
  onEvent,
  RECEIVED_MESSAGES_TABLE,
  type Receiver,
  type RegistryClient,
  rememberInSql,
} from '../src/index.ts'
import { fastifyReceiver, nodeListener } from '../src/node/index.ts'
import { callbackWorld, listening, open, type CallbackWorld as World } from './callback-world.ts'
import { keeping } from './callbacks.ts'
import { all, failure } from './world.ts'

const person = (n: number) => ({
  '@type': 'Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: `00${n}` },
    { identifier_type: 'MOBILE', identifier_value: '+999 555 0101' },
  ],
  name: { surname: 'Okoro', given_name: `p${n}` },
})
const PEOPLE = [10, 11, 12, 13, 14].map(person)
const EVERYBODY = { ...identifier('MOBILE', '+999 555 0101'), pagination: { page_size: 2 } }

let server: TestServer
beforeAll(async () => {
  server = await testServer({ ROLLCALL_ROLE: 'all', ROLLCALL_RETRY_SCHEDULE: '0.2,0.2,0.2,0.2,0.2,0.2' })
  await server.registry('civil', PEOPLE)
})
afterAll(() => server.close())

const world = (options?: World) => callbackWorld(server, options)

const fastifyAt = async (receiver: Receiver): Promise<string> => {
  const app = Fastify({ forceCloseConnections: true })
  await app.register(fastifyReceiver(receiver), { prefix: '/callbacks' })
  open.push(() => app.close())
  return `${await app.listen({ port: 0, host: '127.0.0.1' })}/callbacks`
}

describe('a search', () => {
  it.each<[string, World]>([
    ['node:http', {}],
    ['Fastify', { bridge: fastifyAt }],
  ])('is called back at %s, signed', async (_name, bridge) => {
    const { asking } = await world(bridge)
    const { correlation_id, transaction_id } = await asking.searchAsync(identifier('UIN', '0012'))
    const callback = await asking.awaitCallback(correlation_id)
    if (callback.name !== 'on-search') throw new Error('it is another callback')
    expect(callback).toMatchObject({ signed: true, encrypted: false, message: { transaction_id } })
    expect(itemsOrThrow(callback)[0]?.data?.reg_records).toEqual([person(12)])
  })

  it('is called back encrypted where it was', async () => {
    const own = ({ encryption }: Peer): Jwk[] => [{ ...encryption?.privateJwk, kid: 'enc-1' } as Jwk]
    const { asking } = await world({
      peer: { decrypts: 'X25519' },
      client: (peer) => ({ encryption: { keys: own(peer) } }),
      receiver: (peer) => ({ decryption_keys: own(peer) }),
    })
    const { correlation_id } = await asking.searchAsync(identifier('UIN', '0012'))
    const callback = await asking.awaitCallback(correlation_id)
    expect(callback).toMatchObject({ signed: true, encrypted: true })
  })

  it('of several pages is given page by page, and ends with the last that is missing', async () => {
    const { asking } = await world()
    const told: string[] = []
    const callbacks = await all(
      asking.searchByCallback([EVERYBODY, identifier('SHOE_SIZE', '42'), identifier('UIN', '0012')], {
        transaction_id: 'tx-pages',
        accepted: ({ ack_status }) => told.push(ack_status),
      }),
    )
    expect(told).toEqual(['ACK'])
    const items = callbacks.flatMap(({ message }) => message.search_response)
    expect(items.map(({ reference_id }) => reference_id).toSorted()).toEqual(['1', '1', '1', '2', '3'])
    const pages = items.filter(({ reference_id }) => reference_id === '1')
    const sorted = pages.toSorted((one, other) => (one.pagination?.page_number ?? 0) - (other.pagination?.page_number ?? 0))
    expect(sorted.flatMap(({ data }) => data?.reg_records ?? [])).toEqual(PEOPLE)
    expect(items.find(({ reference_id }) => reference_id === '2')).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.search_criteria.invalid',
    })
  })

  it('for one later page has that page alone', async () => {
    const { asking } = await world()
    const pagination = { page_size: 2, page_number: 2 }
    const callbacks = await all(asking.searchByCallback({ ...EVERYBODY, pagination }, { timeout: 60_000 }))
    expect(callbacks).toHaveLength(1)
  })

  it('has its callback before its ack, and loses neither', async () => {
    const called = Promise.withResolvers<void>()
    const late: ClientOptions['fetch'] = async (url, init) => {
      const response = await fetch(url, init)
      if (url.endsWith('/registry/search')) await called.promise
      return response
    }
    const { asking } = await world({
      bridge: (receiver) => {
        const answer = nodeListener(receiver)
        return listening((request, response) => {
          response.once('finish', () => called.resolve())
          answer(request, response)
        })
      },
      client: () => ({ fetch: late }),
    })
    const { correlation_id } = await asking.searchAsync(identifier('UIN', '0012'))
    expect(await asking.awaitCallback(correlation_id, { timeout: 1 })).toMatchObject({ name: 'on-search' })
  })

  it('whose callback cannot go anywhere is refused, or kept for its status', async () => {
    const elsewhere = await world({ client: () => ({ sender_uri: 'https://elsewhere.example/on-search' }) })
    expect(await failure(elsewhere.asking.searchAsync(EVERYBODY))).toMatchObject({
      name: 'AckError',
      code: 'err.sender_uri.invalid',
      message: 'header.sender_uri: is not an address registered for this sender',
    })
    const nowhere = await world({ client: () => ({ sender_uri: undefined as never }) })
    const { correlation_id } = await nowhere.asking.searchAsync(identifier('UIN', '0012'))
    await expect
      .poll(() => statusOf(nowhere.asking, correlation_id), { timeout: 60_000 })
      .toMatchObject([{ reference_id: '1', status: 'succ', data: { reg_records: [person(12)] } }])
  })
})

/** The items that the registry tells of an earlier request. */
const statusOf = async (asking: RegistryClient, correlation_id: string) =>
  itemsOrThrow(await asking.txnStatus({ attribute_type: 'correlation_id', attribute_value: correlation_id }))

it('a status of what nobody knows is a rejected item', async () => {
  const { asking } = await world()
  const error = await failure(statusOf(asking, 'c-0'))
  expect(error).toMatchObject({
    name: 'ItemRejected',
    code: 'rjct.reference_id.invalid',
    message: 'txnstatus_request.attribute_value: names no transaction of this type that the sender has with this registry',
  })
})

it('a status is told at a callback, too', async () => {
  const { asking } = await world()
  const { correlation_id } = await asking.searchAsync(identifier('UIN', '0012'))
  await asking.awaitCallback(correlation_id)
  const asked = await asking.txnStatusAsync({ attribute_type: 'correlation_id', attribute_value: correlation_id })
  const callback = await asking.awaitCallback(asked.correlation_id)
  if (callback.name !== 'txn-on-status') throw new Error('it is another callback')
  expect(callback.message.txnstatus_response).toMatchObject({
    txn_type: 'search',
    txn_status: { correlation_id, search_response: [{ status: 'succ' }] },
  })
})

it('a callback whose handler fails comes again, the same and signed anew, and is handled once', async () => {
  const { pool } = server.database.db
  await pool.query(RECEIVED_MESSAGES_TABLE)
  const { got, handlers } = keeping()
  interface Body {
    readonly header: { readonly message_id: string }
    readonly message: object
  }
  const bodies: Body[] = []
  const errors: unknown[] = []
  const { asking } = await world({
    receiver: () => ({
      memory: rememberInSql((text, values) => pool.query(text, [...values])),
      on_error: (error) => errors.push(error),
      handlers: {
        'on-search': (callback) => {
          if (bodies.length < 3) throw new Error('the store is away')
          return handlers['on-search']?.(callback)
        },
      },
    }),
    bridge: async (receiver) =>
      listening(
        nodeListener({
          async handle(request) {
            bodies.push((await request.clone().json()) as Body)
            return receiver.handle(request)
          },
        }),
      ),
  })
  const { correlation_id } = await asking.searchAsync(identifier('UIN', '0012'))
  await asking.awaitCallback(correlation_id, { timeout: 60_000 })
  expect(got).toHaveLength(1)
  expect(errors).toEqual([new Error('the store is away'), new Error('the store is away')])
  expect(new Set(bodies.map(({ header, message }) => JSON.stringify([header, message]))).size).toBe(1)
  // Whoever waits has the callback before it is noted and acknowledged.
  const noted = 'select done_at is not null as done from rollcall_received_message where message_id = $1'
  await expect.poll(async () => (await pool.query(noted, [bodies[0]?.header.message_id])).rows).toEqual([{ done: true }])
})

/** Waits until a list has something, and has it. */
const first = async <Item>(list: readonly Item[]): Promise<Item> => {
  await expect.poll(() => list.length, { timeout: 60_000 }).toBeGreaterThan(0)
  return list[0] as Item
}

describe('a subscription', () => {
  const SUBSCRIPTION = { reg_event_type: 'UPDATE', filter: identifier('UIN', '0013').query, notify_record_type: 'Person' }
  const publish = (last_updated: string) =>
    publishEvent(acting(server.context), {
      namespace: 'civil',
      reg_event_type: 'UPDATE',
      record: { ...person(13), last_updated },
    })

  /** A participant whose receiver keeps what it is told of updates. */
  async function subscriber() {
    const updates: { readonly record: object; readonly codes: readonly string[] }[] = []
    const notify = onEvent({
      UPDATE: (record, { subscriptions }) => void updates.push({ record, codes: Object.keys(subscriptions) }),
    })
    const { asking } = await world({ receiver: () => ({ handlers: { notify } }) })
    return { asking, updates }
  }

  it('is made, is notified of what is published, and ends', async () => {
    const { asking, updates } = await subscriber()
    const [made] = itemsOrThrow(await asking.subscribe(SUBSCRIPTION))
    const code = made?.subscriptions?.[0]?.code as string
    expect(made?.subscriptions).toMatchObject([{ code: expect.stringMatching(/^SUB-/), status: 'subscribe' }])
    expect(await failure(asking.subscribe(SUBSCRIPTION).then(itemsOrThrow))).toMatchObject({
      name: 'ItemRejected',
      code: 'rjct.event.already_subscribed',
    })
    const last_updated = '2026-02-03T00:00:00Z'
    expect(await publish(last_updated)).toMatchObject({ matched: 1 })
    expect(await first(updates)).toMatchObject({ record: { ...person(13), last_updated }, codes: [code] })
    const ended = await asking.unsubscribe(code)
    expect(ended.message).toMatchObject({ status: 'succ', subscription_status: [{ code }] })
    expect(await publish('2026-02-04T00:00:00Z')).toMatchObject({ matched: 0 })
    const again = await asking.unsubscribe(code)
    expect(again.message).toMatchObject({ status: 'rjct', status_reason_code: 'rjct.event.already_unsubscribed' })
    expect(updates).toHaveLength(1)
  })

  it('that is held has all events of its record, also those that another one in the mailbox had sooner', async () => {
    const told: { readonly name: unknown; readonly codes: readonly string[]; readonly superseded: boolean }[] = []
    const notify = onEvent({
      UPDATE: (record, { subscriptions, superseded }) => {
        const { given_name: name } = ([record].flat()[0] as { name: { given_name: string } }).name
        told.push({ name, codes: Object.keys(subscriptions), superseded })
      },
    })
    const { asking } = await world({ receiver: () => ({ handlers: { notify } }) })
    const subscribe = async (name: string, value: string, held?: object): Promise<string> => {
      const filter = [{ expression1: { attribute_name: name, operator: 'eq' as const, attribute_value: value } }]
      const criteria = { ...SUBSCRIPTION, filter, ...held }
      const [made] = itemsOrThrow(await asking.subscribe(criteria))
      return made?.subscriptions?.[0]?.code as string
    }
    const yearly = { start_time: '2026-01-01T00:00:00Z', end_time: '2099-01-01T00:00:00Z', frequency: '0 0 1 1 *' }
    const immediate = await subscribe('given_name', 'Now')
    const held = await subscribe('surname', 'Okoro', { frequency: yearly })
    for (const given_name of ['First', 'Second', 'Now']) {
      const record = { ...person(14), name: { surname: 'Okoro', given_name } }
      await publishEvent(acting(server.context), { namespace: 'civil', reg_event_type: 'UPDATE', record })
    }
    await first(told)
    const { pool } = server.database.db
    await pool.query(`update notification set due_at = now() where state = 'waiting'`)
    await pool.query('select pg_notify($1, $2)', [WORK_CHANNEL, MAILBOXES_NOTIFY_PREFIX])
    await expect.poll(() => told.length, { timeout: 60_000 }).toBeGreaterThan(3)
    expect(told).toEqual([
      { name: 'Now', codes: [immediate], superseded: false },
      { name: 'First', codes: [held], superseded: true },
      { name: 'Second', codes: [held], superseded: true },
      { name: 'Now', codes: [held], superseded: false },
    ])
    await asking.unsubscribe([immediate, held])
  })

  it('is made and ended without waiting for the callbacks, which come', async () => {
    const { asking } = await subscriber()
    const asked = await asking.subscribeAsync(SUBSCRIPTION)
    const made = await asking.awaitCallback(asked.correlation_id)
    if (made.name !== 'on-subscribe') throw new Error('it is another callback')
    const code = made.message.subscribe_response[0]?.subscriptions?.[0]?.code as string
    const end = await asking.unsubscribeAsync(code)
    const ended = await asking.awaitCallback(end.correlation_id)
    expect(ended).toMatchObject({ name: 'on-unsubscribe', message: { status: 'succ', subscription_status: [{ code }] } })
  })

  it('that nobody has is not ended, with the code that says so', async () => {
    const { asking } = await subscriber()
    const answer = await asking.unsubscribe('S-1')
    expect(answer.message).toMatchObject({ status: 'rjct', status_reason_code: 'rjct.subscription_code.invalid' })
  })
})
