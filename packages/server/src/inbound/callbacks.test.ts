import { CALLBACKS, type Callback } from '@rollcall/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { expectFault } from '../../test/expectations.ts'
import { encrypted, type Peer, publishedKey, sealingPeer, signedBody } from '../../test/sealing.ts'
import {
  type Answer,
  bearer,
  post,
  type TestParticipant,
  type TestServer,
  testServer,
} from '../../test/server.ts'
import { inboxContext } from '../store/inbox.ts'
import { findInInbox, listInbox } from '../store/inbox-list.ts'

let server: TestServer
let registry: TestParticipant
let signer: Peer

beforeAll(async () => {
  server = await testServer({ ROLLCALL_MAX_BATCH_ITEMS: '10', ROLLCALL_RATE_LIMIT: '1000000' })
  registry = await server.participant('crvs.example')
  signer = await sealingPeer(server, 'signs.example')
  await server.registry('civil')
})
afterAll(() => server.close())
afterEach(() => expect(server.logged()).not.toMatch(/Okoro/))

const NOW = '2026-02-03T09:15:00.000Z'
const ids = (transaction_id = 'tx-1') => ({ transaction_id, correlation_id: 'c-0001' })
const item = { reference_id: 'r-1', timestamp: NOW, status: 'succ' }
const event = {
  reference_id: 'e-1',
  timestamp: NOW,
  data: { reg_record_type: 'Person', reg_records: { name: 'Okoro' } },
}

/** A message that each callback may carry. */
const MESSAGES: Readonly<Record<string, object>> = {
  'on-search': { ...ids(), search_response: [{ ...item, data: { reg_records: [{ name: 'Okoro' }] } }] },
  'on-subscribe': { ...ids(), subscribe_response: [item] },
  'on-unsubscribe': { ...ids(), timestamp: NOW, status: 'succ' },
  'txn-on-status': {
    ...ids(),
    txnstatus_response: { txn_type: 'search', txn_status: { ...ids(), search_response: [item] } },
  },
  notify: { transaction_id: 'tx-1', notify_event: [event] },
}

let count = 0
function envelope(
  name: string,
  { header = {}, message = {} }: { header?: object; message?: object | null } = {},
) {
  const row = rowOf(name)
  count += 1
  return {
    header: {
      version: '1.0.0',
      message_id: `in-${count}`,
      message_ts: new Date().toISOString(),
      action: row.action,
      status: 'succ',
      sender_id: registry.sender_id,
      receiver_id: 'civil.example',
      ...header,
    },
    ...(message !== null && { message: { ...MESSAGES[name], ...message } }),
  }
}

function rowOf(name: string): Callback {
  const row = CALLBACKS.find((callback) => callback.name === name)
  if (row === undefined) throw new Error(`no callback ${name}`)
  return row
}

const send = (
  name: string,
  body: string | object,
  by: TestParticipant = registry,
  at: TestServer = server,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => post(`${at.url}/civil/v1.0.0/${rowOf(name).path}`, body, { ...bearer(by), ...headers })

function expectAck(answer: Answer, correlation_id: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/)): void {
  expect([answer.status, answer.body]).toEqual([
    200,
    { message: { ack_status: 'ACK', timestamp: expect.stringMatching(/Z$/), correlation_id } },
  ])
}

/** What is kept of a message, opened. */
async function kept(message_id: string, by: TestParticipant = registry) {
  const [letter, ...more] = await findInInbox(server.database.db, message_id, by.sender_id)
  expect(more).toEqual([])
  if (letter === undefined) return null
  const { body, owner, ...entry } = letter
  const text = await server.context.bodies.openBody(body, inboxContext({ participant: owner, message_id }))
  return { ...entry, body: JSON.parse(text) }
}

const storedCount = async (): Promise<number> =>
  (await listInbox(server.database.db, { limit: 10_000 })).length

describe('a callback', () => {
  it.each(CALLBACKS.map(({ name }) => name))('%s is kept, sealed, and acknowledged', async (name) => {
    const sent = envelope(name)
    const answers = name !== 'notify'
    expectAck(await send(name, sent), answers ? 'c-0001' : undefined)
    const entry = await kept(sent.header.message_id)
    expect(entry).toMatchObject({
      participant: 'crvs.example',
      callback: name,
      registry: 'civil',
      transaction_id: 'tx-1',
      status: 'succ',
      state: answers ? 'quarantined' : 'stored',
      body: sent,
    })
    const { rows } = await server.database.db.pool.query(
      'select body from inbox_message where message_id = $1',
      [sent.header.message_id],
    )
    expect(rows[0].body.toString('latin1')).not.toContain('Okoro')
  })

  it('is brought into its documented spelling first', async () => {
    const { header, message } = envelope('on-search', { header: { action: 'search', status: 'SUCCESS' } })
    const sent = { headers: header, message: { ...message, transaction_id: 7, search_response: item } }
    expectAck(await send('on-search', sent), 'c-0001')
    const entry = await kept(header.message_id)
    expect(entry).toMatchObject({ transaction_id: '7', status: 'succ' })
    expect(entry?.body).toMatchObject({ message: { transaction_id: '7', search_response: [item] } })
  })

  it('need not name its sender, who holds the token', async () => {
    const sent = envelope('notify', { header: { sender_id: undefined } })
    expectAck(await send('notify', sent))
    expect((await kept(sent.header.message_id))?.body.header.sender_id).toBe('crvs.example')
  })

  it('of a subscription has the header of a request', async () => {
    const sent = envelope('on-subscribe', { header: { status: undefined } })
    expectAck(await send('on-subscribe', sent), 'c-0001')
    expect((await kept(sent.header.message_id))?.status).toBeNull()
  })

  it('is without message only where it is a rejection', async () => {
    const header = { status: 'rjct', status_reason_code: 'rjct.action.invalid' }
    const sent = envelope('on-search', { header, message: null })
    const answer = await send('on-search', sent)
    expectAck(answer)
    const entry = await kept(sent.header.message_id)
    expect(entry).toMatchObject({ state: 'quarantined', transaction_id: null, body: { message: null } })
    // Sent again it has the first one's ack.
    expectAck(await send('on-search', sent), answer.body.message.correlation_id)
    for (const status of ['succ', 'rcvd', 'pdng']) {
      const other = envelope('on-search', { header: { status }, message: null })
      const text = 'message: is required unless header.status is rjct'
      expectFault(await send('on-search', other), 400, 'err.request.bad', text)
    }
  })

  it('may hold several records in one event', async () => {
    const data = { ...event.data, reg_records: [{ a: 1 }, { a: 2 }] }
    const sent = envelope('notify', { message: { notify_event: [{ ...event, data }] } })
    expectAck(await send('notify', sent))
  })
})

describe('a callback that comes again', () => {
  it('is acknowledged each time and kept once, at whatever pace', async () => {
    const sent = envelope('notify')
    const answers = await Promise.all(Array.from({ length: 20 }, () => send('notify', sent)))
    for (const answer of answers) expectAck(answer, answers[0]?.body.message.correlation_id)
    const rows = await listInbox(server.database.db, { limit: 10_000 })
    expect(rows.filter(({ message_id }) => message_id === sent.header.message_id)).toHaveLength(1)
  })

  it('with another content, or at another path, is refused', async () => {
    const sent = envelope('notify')
    expectAck(await send('notify', sent))
    const text = 'rjct.message_id.duplicate: header.message_id: was used before for another message'
    const changed = { ...sent, message: { ...sent.message, transaction_id: 'tx-2' } }
    expectFault(await send('notify', changed), 400, 'err.request.bad', text)
    const elsewhere = envelope('on-search', { header: { message_id: sent.header.message_id } })
    expectFault(await send('on-search', elsewhere), 400, 'err.request.bad', text)
  })

  it('from another sender is another message', async () => {
    const sent = envelope('notify')
    expectAck(await send('notify', sent))
    const other = await server.participant('other.example')
    const theirs = { ...sent, header: { ...sent.header, sender_id: other.sender_id } }
    expectAck(await send('notify', theirs, other))
    expect(await kept(sent.header.message_id, other)).toMatchObject({ participant: 'other.example' })
  })
})

describe('a sealed callback', () => {
  const signed = (changes: Parameters<typeof envelope>[1] = {}) => {
    const { header, message = {} } = envelope('notify', changes)
    return { header: { ...header, sender_id: signer.sender_id }, message }
  }

  it('is verified, and may be days old', async () => {
    const old = new Date(Date.now() - 3 * 86_400_000).toISOString()
    const sent = signed({ header: { message_ts: old } })
    expectAck(await send('notify', signedBody(signer, sent), signer))
    const text = signedBody(signer, signed()).replace('"tx-1"', '"tx-9"')
    const refused = await send('notify', text, signer)
    expect([refused.status, refused.body.message.error.code]).toEqual([401, 'err.signature.invalid'])
    const unsigned = await send('notify', signed(), signer)
    expect([unsigned.status, unsigned.body.message.error.code]).toEqual([401, 'err.signature.missing'])
  })

  it('is opened where it is encrypted, also of a sender without a key of its own', async () => {
    const sent = signed()
    const closed = encrypted(sent, await publishedKey(server, 'RSA-OAEP-256'))
    expectAck(await send('notify', signedBody(signer, closed), signer))
    const entry = await kept(sent.header.message_id, signer)
    expect(entry?.body.message).toEqual(sent.message)
    const copied = { header: { ...closed.header, message_id: 'copied' }, message: closed.message }
    expectFault(
      await send('notify', signedBody(signer, copied), signer),
      400,
      'err.encryption.invalid',
      'message: cannot be opened',
    )
    const lying = signed({ header: { is_msg_encrypted: true } })
    expectFault(
      await send('notify', signedBody(signer, lying), signer),
      400,
      'err.encryption.invalid',
      'header.is_msg_encrypted: must say whether message is an EncryptedMessage',
    )
  })
})

describe('a callback that is refused', () => {
  it.each<[string, string, Parameters<typeof envelope>[1], number, string, string | RegExp]>([
    [
      'another sender',
      'notify',
      { header: { sender_id: 'x' } },
      403,
      'err.sender_id.invalid',
      /^header\.sender_id: /,
    ],
    [
      'another receiver',
      'notify',
      { header: { receiver_id: 'x' } },
      400,
      'err.receiver_id.invalid',
      'header.receiver_id: is not this registry',
    ],
    [
      'another version',
      'notify',
      { header: { version: '2.0.0' } },
      400,
      'err.version.not_supported',
      'header.version: only 1.0.0 is spoken here',
    ],
    [
      'another action',
      'notify',
      { header: { action: 'on-search' } },
      400,
      'err.request.bad',
      'rjct.action.invalid: header.action: must be notify on this path',
    ],
    [
      'an unknown action',
      'notify',
      { header: { action: 'sing' } },
      400,
      'err.request.bad',
      /^rjct\.action\.not_supported: header\.action: /,
    ],
    [
      'no status',
      'on-search',
      { header: { status: undefined } },
      400,
      'err.request.bad',
      'header.status: is required',
    ],
    [
      'an unknown status',
      'on-subscribe',
      { header: { status: 'sung' } },
      400,
      'err.request.bad',
      /^header\.status: must be one of /,
    ],
    [
      'no message_ts',
      'notify',
      { header: { message_ts: undefined } },
      400,
      'err.request.bad',
      'header.message_ts: is required',
    ],
    [
      'no correlation_id',
      'on-search',
      { message: { correlation_id: undefined } },
      400,
      'err.request.bad',
      'message.correlation_id: is required',
    ],
    [
      'a malformed correlation_id',
      'on-search',
      { message: { correlation_id: 'a b' } },
      400,
      'err.request.bad',
      'message.correlation_id: may hold only letters, digits and "-"',
    ],
    [
      'no items',
      'on-search',
      { message: { search_response: undefined } },
      400,
      'err.request.bad',
      'message.search_response: is required',
    ],
    [
      'another total_count',
      'notify',
      { header: { total_count: 4 } },
      400,
      'err.request.bad',
      'rjct.total_count.invalid: header.total_count: must be the number of items in message.notify_event',
    ],
    [
      'too many events',
      'notify',
      { message: { notify_event: Array.from({ length: 11 }, () => event) } },
      400,
      'err.request.bad',
      'rjct.total_count.limit_exceeded: message.notify_event: must have at most 10 items',
    ],
  ])('with %s', async (_name, callback, changes, status, code, text) => {
    const before = await storedCount()
    const answer = await send(callback, envelope(callback, changes))
    const told = answer.body.message.error.message
    if (typeof text === 'string') expect(told).toBe(text)
    else expect(told).toMatch(text)
    expectFault(answer, status, code, told)
    expect(await storedCount()).toBe(before)
  })

  it('without token, as no JSON, as a file, at a registry that is not there', async () => {
    const body = envelope('notify')
    const nobody = { ...registry, token: 'x' }
    expect((await send('notify', body, nobody)).status).toBe(401)
    expectFault(
      await send('notify', 'sing'),
      400,
      'err.request.bad',
      'not JSON: a value is expected at character 1',
    )
    const type = { 'Content-Type': 'multipart/form-data; boundary=x' }
    const file = await send('notify', body, registry, server, type)
    expectFault(file, 415, 'err.request.bad', 'Content-Type: must be application/json')
    const nowhere = await post(`${server.url}/nowhere/v1.0.0/registry/notify`, body, bearer(registry))
    expectFault(nowhere, 404, 'err.request.not_found', 'there is no such namespace or path here')
  })

  it('above what a participant may have kept in a day; what is there is acknowledged all the same', async () => {
    const small = await testServer({ ROLLCALL_MAX_INBOX_MESSAGES: '3', ROLLCALL_MAX_INBOX_BYTES: '1000000' })
    try {
      await small.registry('civil')
      const peer = await small.participant(registry.sender_id)
      const sent = Array.from({ length: 3 }, () => envelope('notify'))
      for (const body of sent) expectAck(await send('notify', body, peer, small))
      await new Promise((resolve) => setTimeout(resolve, 600))
      const refused = await send('notify', envelope('notify'), peer, small)
      const text = 'too many requests: at most 3 callbacks and 1000000 bytes of them a day'
      expectFault(refused, 429, 'err.request.too_many_requests', text)
      const wait = Number(refused.headers.get('retry-after'))
      expect(wait).toBeGreaterThan(0)
      expect(wait).toBeLessThanOrEqual(86_400)
      expectAck(await send('notify', sent[0] ?? {}, peer, small))
      const other = await small.participant('other.example')
      const theirs = envelope('notify', { header: { sender_id: other.sender_id } })
      expectAck(await send('notify', theirs, other, small))
    } finally {
      await small.close()
    }
  })

  it('by the quota that every request has', async () => {
    const strict = await server.participant('slow.example', { rate_limit: 1 })
    const bodies = Array.from({ length: 5 }, () =>
      envelope('notify', { header: { sender_id: strict.sender_id } }),
    )
    const answers = await Promise.all(bodies.map((body) => send('notify', body, strict)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    for (const { body } of refused) expect(body.message.error.code).toBe('err.request.too_many_requests')
  })
})
