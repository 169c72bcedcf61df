import { describe, expect, it, vi } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import {
  CIVIL,
  encrypt,
  keeping,
  notify,
  onSearch,
  onStatus,
  onSubscribe,
  onUnsubscribe,
  receiver,
  sent,
  signed,
} from '../../test/callbacks.ts'
import { failure } from '../../test/world.ts'
import type { CallbackName, Received } from './callbacks.ts'

/** Lets everything go on that waits for nothing outside this process. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('a callback that is signed', () => {
  it.each([
    ['on-search', '/a/b/registry/on-search', onSearch],
    ['on-subscribe', '/registry/on-subscribe', onSubscribe],
    ['on-unsubscribe', '/x/on-unsubscribe', onUnsubscribe],
    ['txn-on-status', '/civil/v1.0.0/registry/txn/on-status', onStatus],
    ['notify', '/notify', notify],
    ['on-search', '/an/address/of/its/own', onSearch],
  ] as const)('%s at %s is handed over and acknowledged', async (name, path, make) => {
    const { got, handlers } = keeping()
    const envelope = make()
    const { status, headers, ack } = await sent(receiver({ handlers }), signed(envelope), { path })
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(ack).toEqual({
      ack_status: 'ACK',
      timestamp: expect.stringMatching(/Z$/),
      correlation_id: name === 'notify' ? expect.stringMatching(/^[0-9a-f-]{36}$/) : 'c-1',
    })
    expect(got).toEqual([{ name, ...envelope, signed: true, encrypted: false }])
  })

  it.each(['text/plain;charset=UTF-8', 'text/html', 'application/ld+json', 'application/json', ''])(
    'and has the Content-Type %j',
    async (type) => {
      const { got, handlers } = keeping()
      const headers = { 'Content-Type': type }
      expect((await sent(receiver({ handlers }), signed(onSearch()), { headers })).status).toBe(200)
      expect(got).toHaveLength(1)
    },
  )

  it('has timestamps without a zone, which are UTC and named', async () => {
    const { got, handlers } = keeping()
    const local = new Date().toISOString().slice(0, -1)
    const item = { reference_id: '1', timestamp: local, status: 'succ' }
    const envelope = onSearch({ header: { message_ts: local }, message: { search_response: [item] } })
    expect((await sent(receiver({ handlers }), signed(envelope))).status).toBe(200)
    expect(got).toMatchObject([
      {
        header: { message_ts: `${local}Z` },
        message: { search_response: [{ timestamp: `${local}Z` }] },
        signed: true,
        assumed_utc: ['header.message_ts', 'message.search_response[0].timestamp'],
      },
    ])
  })

  it('is acknowledged only after its handler has resolved', async () => {
    const order: string[] = []
    const release = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const handling = receiver({
      handlers: {
        'on-search': async () => {
          begun.resolve()
          await release.promise
          order.push('handled')
        },
      },
    })
    const acknowledged = sent(handling, signed(onSearch())).then(() => order.push('acknowledged'))
    await begun.promise
    await turns()
    release.resolve()
    await acknowledged
    expect(order).toEqual(['handled', 'acknowledged'])
  })

  it('may hold several records in one event, each of which is an event', async () => {
    const { got, handlers } = keeping()
    await sent(receiver({ handlers }), signed(notify({}, [{ a: 1 }, { a: 2 }])), { path: '/notify' })
    const { message } = got[0] as Received<'notify'>
    expect(message.notify_event.map(({ data }) => data.reg_records)).toEqual([{ a: 1 }, { a: 2 }])
  })

  it('may be without message where it is a rejection', async () => {
    const { got, handlers } = keeping()
    const body = signed(onSearch({ header: { status: 'rjct', status_reason_code: 'rjct.version.invalid' } }))
    const { header } = JSON.parse(body)
    const off = receiver({ handlers, peers: [{ ...CIVIL, signature: 'off' }] })
    expect((await sent(off, JSON.stringify({ header }))).ack.ack_status).toBe('ACK')
    expect(got).toEqual([{ name: 'on-search', header, signed: false }])
    const { status, ack } = await sent(off, JSON.stringify({ header: { ...header, status: 'succ' } }))
    expect([status, ack.error]).toEqual([
      400,
      { code: 'err.request.bad', message: 'message: is required unless header.status is rjct' },
    ])
  })

  it('is taken when its shape can be read, and what is not known here is handed over as it is', async () => {
    const { got, handlers } = keeping()
    const handling = receiver({ handlers })
    const item = { reference_id: '1', timestamp: '2026-02-03T09:15:00Z', status: 'rjct' }
    const unknown = { status_reason_code: 'rjct.consent.missing', locale: 'en' }
    const subscription = { code: 'S-1', status: 'paused', timestamp: '2026-02-03T09:15:00Z', filter_type: 'sql' }
    const callbacks = [
      onSearch({
        header: { status_reason_code: 'rjct.jwt.invalid' },
        message: { correlation_id: 'c/1 (two)', search_response: [{ ...item, ...unknown }] },
      }),
      onSubscribe({ message: { subscribe_response: [{ ...item, ...unknown, subscriptions: [subscription] }] } }),
      onUnsubscribe({ message: { timestamp: undefined, subscription_status: [{ code: 'S', status: 'gone' }] } }),
    ]
    for (const envelope of callbacks) {
      const body = signed(JSON.parse(JSON.stringify(envelope)))
      expect((await sent(handling, body, { path: `/${(envelope.header as { action: string }).action}` })).status).toBe(200)
    }
    expect(got.map(({ header }) => header.status_reason_code)).toEqual(['rjct.jwt.invalid', undefined, undefined])
    expect(got.map((one) => ('message' in one ? one.message : null))).toEqual(
      JSON.parse(JSON.stringify(callbacks)).map(({ message }: { message: object }) => message),
    )
  })

  it('that is encrypted is opened', async () => {
    const { got, handlers } = keeping()
    const { jwk, privateJwk } = keyPair('RSA')
    const opening = receiver({ handlers, decryption_keys: [{ ...privateJwk, kid: 'enc-1' }] })
    const envelope = onSearch({ header: { is_msg_encrypted: true } })
    const key = { ...jwk, kid: 'enc-1', alg: 'RSA-OAEP-256' }
    const closed = { ...envelope, message: encrypt(envelope.message, key as never) }
    expect((await sent(opening, signed(closed))).status).toBe(200)
    expect(got).toEqual([{ name: 'on-search', ...envelope, signed: true, encrypted: true }])

    const { status, ack } = await sent(receiver({ handlers }), signed(closed))
    expect([status, ack.error]).toEqual([400, { code: 'err.encryption.invalid', message: 'message: cannot be decrypted' }])
    // A header that does not say so leaves it to the message.
    const { is_msg_encrypted: _left_out, ...header } = { is_msg_encrypted: true, ...onSearch().header }
    expect((await sent(opening, signed({ header, message: closed.message }))).status).toBe(200)
    expect(got.at(-1)).toMatchObject({ encrypted: true, message: envelope.message })
    const strict = receiver({ handlers, peers: [{ ...CIVIL, encrypted: true }] })
    expect((await sent(strict, signed(onSearch()))).ack.error).toEqual({
      code: 'err.encryption.invalid',
      message: 'message: must be encrypted',
    })
  })
})

describe('a message that comes again', () => {
  it('is acknowledged and not handled again', async () => {
    const { got, handlers } = keeping()
    const handling = receiver({ handlers })
    const envelope = onSearch()
    const [first, second] = [await sent(handling, signed(envelope)), await sent(handling, signed(envelope))]
    expect([first.ack.ack_status, second.ack.ack_status, got.length]).toEqual(['ACK', 'ACK', 1])
    expect(second.ack.correlation_id).toBe('c-1')
  })

  it('waits for the one that is being handled', async () => {
    let release = (): void => {}
    let handled = 0
    const handling = receiver({
      handlers: {
        'on-search': () => {
          handled += 1
          return new Promise<void>((resolve) => {
            release = resolve
          })
        },
      },
    })
    const body = signed(onSearch())
    let answered = 0
    const answers = [sent(handling, body), sent(handling, body), sent(handling, body)]
    for (const answer of answers) answer.then(() => (answered += 1))
    await vi.waitFor(() => expect(handled).toBe(1), 60_000)
    await turns()
    expect([handled, answered]).toEqual([1, 0])
    release()
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200])
    expect(handled).toBe(1)
  })

  it('is handled again when its handler failed, which tells the peer nothing', async () => {
    const errors: unknown[] = []
    let attempts = 0
    const failing = receiver({
      on_error: (error) => errors.push(error),
      handlers: {
        'on-search': () => {
          attempts += 1
          if (attempts === 1) throw new Error('the password is 1234')
        },
      },
    })
    const body = signed(onSearch())
    const first = await sent(failing, body)
    expect([first.status, first.ack.ack_status, first.ack.error]).toEqual([
      500,
      'ERR',
      { code: 'err.service.unavailable', message: 'the message was not handled; send it again later' },
    ])
    expect(errors).toEqual([new Error('the password is 1234')])
    expect((await sent(failing, body)).status).toBe(200)
    expect(attempts).toBe(2)
  })

  it('is answered also when the hook for errors throws', async () => {
    const boom = (): never => {
      throw new Error('no')
    }
    const { status } = await sent(receiver({ on_error: boom, handlers: { 'on-search': boom } }), signed(onSearch()))
    expect(status).toBe(500)
  })

  it('is another message when another registry sends it', async () => {
    const { got, handlers } = keeping()
    const handling = receiver({ handlers, peers: [CIVIL, { ...CIVIL, sender_id: 'ibr.example' }] })
    const header = { message_id: 'm-same' }
    await sent(handling, signed(onSearch({ header })))
    await sent(handling, signed(onSearch({ header: { ...header, sender_id: 'ibr.example' } })))
    expect(got).toHaveLength(2)
  })
})

describe('awaitCallback', () => {
  const NAME: CallbackName = 'on-search'

  it('gives a callback that comes after, and one that came before', async () => {
    const waiting = receiver()
    const after = waiting.awaitCallback('c-1')
    await sent(waiting, signed(onSearch()))
    expect((await after).name).toBe(NAME)

    await sent(waiting, signed(onSearch({ message: { correlation_id: 'c-2' } })))
    expect((await waiting.awaitCallback('c-2')).message.correlation_id).toBe('c-2')
  })

  it('goes on waiting where others are refused, and names three of them if nothing comes', async () => {
    const waiting = receiver()
    const outcome = failure(waiting.awaitCallback('c-1', { timeout: 200 }))
    const from = (sender_id: string) => sent(waiting, signed(onSearch({ header: { sender_id } })))
    await from('civil.rollcall.example')
    await from('civil.rollcall.example')
    await from('\u001b[31m\u202e\nfalse')
    await from('x'.repeat(1_000))
    await from('another.example')
    await from('one-more.example')
    expect(await outcome).toMatchObject({
      reason: 'no_callback',
      message: [
        'no callback within 200 ms; refused meanwhile: sender civil.rollcall.example is unknown',
        'sender \\u{1b}[31m\\u{202e}\\u{a}false is unknown',
        `sender ${'x'.repeat(113)}…`,
        'and 2 more',
      ].join('; '),
    })

    const found = waiting.awaitCallback('c-2', { timeout: 10_000 })
    await from('another.example')
    await sent(waiting, signed(onSearch({ message: { correlation_id: 'c-2' } })))
    expect((await found).message.correlation_id).toBe('c-2')
  })

  it('names another reason by its code', async () => {
    const waiting = receiver()
    await sent(waiting, JSON.stringify(onSearch()))
    expect(await failure(waiting.awaitCallback('c-1', { timeout: 5 }))).toMatchObject({
      message: expect.stringMatching(/^no callback within 5 ms; refused meanwhile: err\.signature\.missing, /),
    })
  })

  it('gives nothing that its handler failed on', async () => {
    const waiting = receiver({
      handlers: {
        'on-search': () => {
          throw new Error('no')
        },
      },
    })
    await sent(waiting, signed(onSearch()))
    expect(await failure(waiting.awaitCallback('c-1', { timeout: 20 }))).toMatchObject({
      reason: 'no_callback',
      message: 'no callback within 20 ms',
    })
  })
})
