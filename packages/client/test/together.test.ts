/** A client and its receiver in one process: asked, acknowledged, called back; and signatures over several attempts. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Jwk } from '@rollcall/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { keyPair } from '../../core/test/key-pairs.ts'
import { isSigned } from '../../delivery/test/stranger/signing.ts'
import { callbacksAt, identifier, itemsOrThrow, type OfKind, type Receiver } from '../src/index.ts'
import { nodeListener } from '../src/node/index.ts'
import { keeping, notify, onSearch, onSubscribe, onUnsubscribe, receiver, signed } from './callbacks.ts'
import { ack, dropping, finding, type Respond, refusing } from './loopback.ts'
import { ADA, client, failure, registry } from './world.ts'

const SUBSCRIPTION = { reg_event_type: 'Death', filter: identifier('UIN', '0012').query, notify_record_type: 'Person' }

let server: Server | undefined
/** Callbacks under way: a waiter has its callback before the registry has its ack. */
const calls: Promise<unknown>[] = []
afterEach(async () => {
  await Promise.all(calls.splice(0))
  server?.closeAllConnections()
  server?.close()
})

async function listening(receiving: Receiver): Promise<string> {
  server = createServer(nodeListener(receiving)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/sp`
}

const post = (url: string, body: string): Promise<Response> =>
  fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })

/** Calls back at the sender_uri of a request: before it answers with the ack, or after. */
const calling =
  (make: typeof onSearch, when: 'before' | 'after'): Respond =>
  async (asked, response) => {
    const { transaction_id } = asked.body.message
    const body = signed(make({ message: { transaction_id } }))
    const acknowledged = when === 'before' ? undefined : once(response, 'finish')
    const call = Promise.resolve(acknowledged).then(() => post(asked.body.header.sender_uri, body))
    calls.push(call)
    if (when === 'before') await call
    return ack()(asked, response)
  }

it('the kind of a client that has subscribed is that of the notifications of its registry', async () => {
  const { got, handlers } = keeping()
  const receiving = receiver({ handlers })
  const url = await listening(receiving)
  const sender_uri = callbacksAt(url)
  const asking = await client([calling(onSubscribe, 'before')], {
    receiver: receiving,
    sender_uri,
    ...({ kind: 'civil' } satisfies OfKind<'civil'>),
  })
  await asking.subscribe(SUBSCRIPTION)
  calls.push(post(`${url}/registry/notify`, signed(notify())))
  await Promise.all(calls)
  expect(got.at(-1)).toMatchObject({ name: 'notify', kind: 'civil' })
})

describe.each(['before', 'after'] as const)('a callback that comes %s the ack', (when) => {
  it('is awaited', async () => {
    const receiving = receiver()
    const sender_uri = callbacksAt(await listening(receiving))
    const asking = await client([calling(onSearch, when)], { receiver: receiving, sender_uri })
    const { correlation_id, transaction_id } = await asking.searchAsync(ADA)
    const callback = await asking.awaitCallback(correlation_id, { timeout: 60_000 })
    expect(callback).toMatchObject({ name: 'on-search', signed: true, message: { transaction_id } })
    if (callback.name !== 'on-search') throw new Error('it is another callback')
    expect(itemsOrThrow(callback)[0]?.data?.reg_records).toEqual([{ a: 1 }])
  })

  it('ends a subscribe and an unsubscribe', async () => {
    const { got, handlers } = keeping()
    const receiving = receiver({ handlers })
    const sender_uri = callbacksAt(await listening(receiving))
    const script = [calling(onSubscribe, when), calling(onUnsubscribe, when)]
    const asking = await client(script, { receiver: receiving, sender_uri })
    const subscribed = await asking.subscribe(SUBSCRIPTION)
    const [code = ''] = itemsOrThrow(subscribed)[0]?.subscriptions?.map(({ code }) => code) ?? []
    expect(code).toBe('S-1')
    expect((await asking.unsubscribe(code)).message.status).toBe('succ')
    expect(got.map(({ name }) => name)).toEqual(['on-subscribe', 'on-unsubscribe'])
  })
})

describe('a subscribe', () => {
  it('says when no callback will come, or did not', async () => {
    const receiving = receiver()
    const nack = await client([ack('NACK')], { receiver: receiving })
    expect(await failure(nack.subscribe(SUBSCRIPTION))).toMatchObject({
      reason: 'no_callback',
      message: 'the registry took the request, and its NACK says that no callback follows',
    })
    const silent = await client([ack()], { receiver: receiving, callback_timeout: 30 })
    expect(await failure(silent.subscribe(SUBSCRIPTION))).toMatchObject({
      reason: 'no_callback',
      message: 'no callback within 30 ms',
    })
  })

  it('needs a receiver to wait with, and sends nothing without', async () => {
    const asking = await client([ack()])
    expect(await failure(asking.subscribe(SUBSCRIPTION))).toEqual(
      new TypeError('subscribe waits for a callback and needs a receiver; use subscribeAsync without'),
    )
    expect(() => asking.awaitCallback('c-1')).toThrow(new TypeError('the client was made without a receiver'))
    expect(registry.asked).toEqual([])
  })
})

it('each attempt is signed anew over the same header and message', async () => {
  const { jwk, privateJwk } = keyPair('Ed25519')
  const limited = refusing(429, 'err.request.too_many_requests', { 'Retry-After': '1' })
  const asking = await client([dropping, limited, finding([])], { signing: { key: { ...privateJwk, kid: 'k-1' } as Jwk } })
  await asking.search(ADA)
  const bodies = registry.asked.map(({ body }) => body)
  expect(bodies).toHaveLength(3)
  expect(new Set(bodies.map(({ header, message }) => JSON.stringify({ header, message }))).size).toBe(1)
  expect(bodies[2].signature).not.toBe(bodies[0].signature)
  const keys = [{ ...jwk, kid: 'k-1', use: 'sig', alg: 'EdDSA' }]
  expect(registry.asked.map(({ text }) => isSigned(text, 'sp.example', keys))).toEqual([true, true, true])
})

it('an encrypted request is the same ciphertext in each attempt, and nothing goes out in clear', async () => {
  const own = { ...keyPair('X25519').privateJwk, kid: 'e-1' } as Jwk
  const theirs = { ...keyPair('X25519').jwk, kid: 'e-2', use: 'enc', alg: 'ECDH-ES+A256KW' } as Jwk
  const encryption = { keys: [own], encrypt_for: theirs }
  const asking = await client([dropping, ack()], { encryption })
  await asking.searchAsync(ADA)
  const [first, second] = registry.asked.map(({ text }) => text)
  expect(second).toBe(first)

  const keyless = await client([], { encryption: { keys: [own] }, peer: { keys: { keys: [] } } })
  expect(await failure(keyless.search(ADA))).toMatchObject({
    name: 'UntrustedAnswer',
    code: 'err.encryption.invalid',
    reason: 'the registry publishes no key to encrypt with',
    options: ['encryption.encrypt_for'],
  })
  expect(registry.asked).toEqual([])
})
