/** The life of a synchronous request: what is answered, and what is refused by who sends it and by its header. */
import { afterEach, describe, expect, it } from 'vitest'
import { ADA, civilServer } from '../../civil.ts'
import { expectFault, expectRejected } from '../../expectations.ts'
import { bearer, post, searchRequest } from '../../server.ts'

const { server, peer: ada, url, send, search: valid } = await civilServer([ADA])

afterEach(() => expect(server.logged()).not.toMatch(/Okoro|B-5521|0012/))
const other = await server.participant('other.demo')

describe('a search that is understood', () => {
  it('answers the record as it is held, in an envelope with a callback header', async () => {
    const answer = await send(valid({ item: { locale: 'eng' } }))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.body).toEqual({
      signature: expect.stringMatching(/^namespace="registry", kidId="civil\.example\|/),
      header: {
        version: '1.0.0',
        message_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        message_ts: expect.stringMatching(/^\d{4}-.*Z$/),
        action: 'on-search',
        status: 'succ',
        total_count: 1,
        completed_count: 1,
        sender_id: 'civil.example',
        receiver_id: 'spmis.demo',
        is_msg_encrypted: false,
        meta: {},
      },
      message: {
        transaction_id: 'tx-1',
        correlation_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        search_response: [
          {
            reference_id: 'r-1',
            timestamp: expect.stringMatching(/Z$/),
            status: 'succ',
            data: { version: '1.0.0', reg_type: 'ns:org:RegistryType:Civil', reg_record_type: 'Person', reg_records: [ADA] },
            pagination: { page_size: 10, page_number: 1, total_count: 1 },
            locale: 'eng',
          },
        ],
      },
    })
  })

  it('takes what 3.1 tolerates: headers, numeric strings, single objects, empty optional members', async () => {
    const { header, message } = valid()
    const [item] = message.search_request
    const answer = await send({
      headers: { ...header, total_count: '1', meta: '', receiver_id: '', version: '1.0' },
      message: { transaction_id: 900, search_request: { ...item, locale: '' } },
    })
    expect(answer.status).toBe(200)
    expect(answer.body.message).toMatchObject({ transaction_id: '900', search_response: [{ status: 'succ' }] })
    expect(answer.body.message.search_response[0]).not.toHaveProperty('locale')
  })

  it('answers to an alias of the registry and to its own sender_id', async () => {
    const answer = await send(valid({ header: { receiver_id: 'civil.example' } }))
    expect(answer.body.header.status).toBe('succ')
  })

  it('treats __proto__, constructor and toString as plain data', async () => {
    const text = JSON.stringify(valid()).replace('"meta":{}', '"meta":{"__proto__":{"x":1},"constructor":2,"toString":3}')
    const answer = await send(text)
    expect(answer.body.header.status).toBe('succ')
  })
})

describe('1. who is calling is asked before the body is read', () => {
  const garbled = 'Authorization: the access token is not valid here or has expired; ask for a new one'
  it.each([
    ['no header', undefined, 'Authorization: a bearer token is required'],
    ['another scheme', 'Basic abc', 'Authorization: must be "Bearer" and an access token'],
    ['an empty token', 'Bearer ', 'Authorization: must be "Bearer" and an access token'],
    ['a garbled token', 'Bearer abc.def.ghi', garbled],
    ['a token with alg none', `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`, garbled],
  ])('%s', async (_name, authorization, message) => {
    const answer = await post(url, 'not json', authorization === undefined ? {} : { Authorization: authorization })
    expectFault(answer, 401, 'err.request.unauthorized', message)
    expect(answer.headers.get('www-authenticate')).toBe(message === garbled ? 'Bearer error="invalid_token"' : 'Bearer')
  })

  it('a token whose signature was altered', async () => {
    const token = `${ada.token.slice(0, -6)}AAAAAA`
    expectFault(await send(valid(), { Authorization: `Bearer ${token}` }), 401, 'err.request.unauthorized', garbled)
  })
})

describe('3. the sender is the caller', () => {
  it.each(['other.demo', 'nobody.demo'])('header.sender_id %s', async (sender_id) => {
    expectFault(
      await send(valid({ header: { sender_id } })),
      403,
      'err.sender_id.invalid',
      'header.sender_id: must be the participant that the access token was issued to',
    )
  })

  it('each participant asks with its own token', async () => {
    const answer = await post(url, searchRequest(other.sender_id, { type: 'UIN', value: '0012' }), bearer(other))
    expect(answer.body.header.receiver_id).toBe('other.demo')
  })
})

describe('4. version, receiver, action', () => {
  it.each(['2.0.0', '0.9', 'x'])('version %s', async (version) => {
    const answer = await send(valid({ header: { version, action: 'nonsense', total_count: 9 } }))
    expectRejected(answer, 'rjct.version.invalid', 'header.version: must be 1.0.0')
  })

  it('another receiver', async () => {
    expectFault(
      await send(valid({ header: { receiver_id: 'ibr.example' } })),
      400,
      'err.receiver_id.invalid',
      'header.receiver_id: is not this registry',
    )
  })

  it.each(['subscribe', 'on-search', 'txn-status'])('action %s of another operation', async (action) => {
    const answer = await send(valid({ header: { action } }))
    expectRejected(answer, 'rjct.action.invalid', 'header.action: must be search on this path')
  })

  it('an unknown action', async () => {
    expectRejected(
      await send(valid({ header: { action: 'destroy' } })),
      'rjct.action.not_supported',
      'header.action: is no action of this protocol; must be search on this path',
    )
  })

  it('message_ts of any time, unless a window is set', async () => {
    const answer = await send(valid({ header: { message_ts: '1999-01-01T00:00:00Z' } }))
    expect(answer.body.header.status).toBe('succ')
  })

  it('a rejected header is answered with a transaction_id that came as a number', async () => {
    const answer = await send(valid({ header: { version: '2.0.0' }, message: { transaction_id: 900 } }))
    expect([answer.body.header.status_reason_code, answer.body.message.transaction_id]).toEqual(['rjct.version.invalid', '900'])
  })

  it('a rejected header needs a transaction_id to be answered with', async () => {
    const answer = await send(valid({ header: { version: '2.0.0' }, message: { transaction_id: '' } }))
    expect(answer.body.message.error.message).toMatch(/^message\.transaction_id: /)
    expectFault(answer, 400, 'err.request.bad', answer.body.message.error.message)
  })
})
