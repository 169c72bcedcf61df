import { randomBytes } from 'node:crypto'
import { inboxBodyBinding } from '@rollcall/engine/store/exchanges/inbox'
import { findInInbox, listInbox } from '@rollcall/engine/store/exchanges/inbox-list'
import { CALLBACKS } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { expectFault } from '../../expectations.ts'
import { envelope, event, expectAck, inboxServer, item } from '../../inbox.ts'
import { encrypted, publishedKey, sealingPeer, signedBody } from '../../sealing.ts'
import { bearer, post, type TestParticipant } from '../../server.ts'

const { server, registry, send } = await inboxServer()
const signer = await sealingPeer(server, 'signs.example')
await server.registry('social')

/** The stored message, decrypted. */
async function kept(message_id: string, by: TestParticipant = registry) {
  const [letter, ...more] = await findInInbox(server.database.db, message_id, by.sender_id)
  expect(more).toEqual([])
  if (letter === undefined) return null
  const { body, owner, ...entry } = letter
  const text = await server.context.bodies.decryptBody(body, inboxBodyBinding({ participant: owner, message_id }))
  return { ...entry, body: JSON.parse(text) }
}

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
    const { rows } = await server.database.db.pool.query('select body from inbox_message where message_id = $1', [
      sent.header.message_id,
    ])
    expect(rows[0].body.toString('latin1')).not.toContain('Okoro')
  })

  it.each(['text/plain;charset=UTF-8', 'TEXT/xml', 'application/ld+json', ''])(
    'is taken with the Content-Type %j',
    async (type) => {
      const sent = envelope('notify')
      expectAck(await send('notify', sent, registry, server, { 'Content-Type': type }))
      expect((await kept(sent.header.message_id))?.body).toEqual(sent)
    },
  )

  it('without a Content-Type is taken', async () => {
    const sent = envelope('notify')
    const body = new Blob([JSON.stringify(sent)])
    const address = `${server.url}/civil/v1.0.0/registry/notify`
    expect((await fetch(address, { method: 'POST', body, headers: bearer(registry) })).status).toBe(200)
    expect((await kept(sent.header.message_id))?.body).toEqual(sent)
  })

  it('may have timestamps without a zone: they are UTC, and what is stored names them', async () => {
    const local = '2026-02-03T09:15:00.512304'
    const sent = envelope('on-search', { message: { search_response: [{ ...item, timestamp: local }] } })
    const { header } = sent
    const message_ts = header.message_ts.slice(0, -1)
    expectAck(await send('on-search', { ...sent, header: { ...header, message_ts } }), 'c-0001')
    expect((await kept(header.message_id))?.body).toMatchObject({
      header: { message_ts: header.message_ts },
      message: { search_response: [{ timestamp: `${local}Z` }] },
      assumed_utc: ['header.message_ts', 'message.search_response[0].timestamp'],
    })
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

  it.each([
    ['a locale of two letters', { search_response: [{ ...item, locale: 'en' }] }],
    [
      'a reason that is not known here',
      { search_response: [{ ...item, status: 'rjct', status_reason_code: 'rjct.consent.missing' }] },
    ],
  ])('is taken with %s, which is kept', async (_name, message) => {
    const header = { status: 'rjct', status_reason_code: 'rjct.jwt.invalid' }
    const sent = envelope('on-search', { header, message })
    expectAck(await send('on-search', sent), 'c-0001')
    expect((await kept(sent.header.message_id))?.body).toMatchObject({ header, message })
  })

  it('of a social registry may have another correlation_id, and no timestamp', async () => {
    const message = { timestamp: undefined, correlation_id: 'c/1 (two)' }
    const header = { receiver_id: 'social.example' }
    const social = envelope('on-unsubscribe', { header, message })
    const url = `${server.url}/social/v1.0.0/registry/on-unsubscribe`
    expectAck(await post(url, JSON.stringify(social), bearer(registry)), 'c/1 (two)')
    for (const [changes, text] of [
      [{ timestamp: undefined }, 'message.timestamp: is required'],
      [{ correlation_id: 'c/1 (two)' }, 'message.correlation_id: may hold only letters, digits and "-"'],
    ] as const) {
      const civil = envelope('on-unsubscribe', { message: changes })
      expectFault(await send('on-unsubscribe', civil), 400, 'err.request.bad', text)
    }
    const long = envelope('on-unsubscribe', { header, message: { correlation_id: 'c'.repeat(100) } })
    const answer = await post(url, JSON.stringify(long), bearer(registry))
    expectFault(answer, 400, 'err.request.bad', 'message.correlation_id: must have at most 99 characters')
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

  it('of a notification has an ack with its own correlation_id only when an ack may have it', async () => {
    for (const correlation_id of ['n-1', '', 'a b<script>', 'ü', 'n-1\n', randomBytes(9_000).toString('base64')]) {
      const sent = envelope('notify', { message: { correlation_id } })
      const answer = await send('notify', sent)
      expectAck(answer, correlation_id === 'n-1' ? 'n-1' : undefined)
      expect((await kept(sent.header.message_id))?.body).toEqual(sent)
    }
  })

  it('of a notification to a social registry has an ack with its own correlation_id of any characters', async () => {
    const sent = envelope('notify', { header: { receiver_id: 'social.example' }, message: { correlation_id: 'n/1 (two)' } })
    const answer = await post(`${server.url}/social/v1.0.0/registry/notify`, JSON.stringify(sent), bearer(registry))
    expectAck(answer, 'n/1 (two)')
  })

  it.each(['on-subscribe', 'on-unsubscribe'] as const)('%s may have an empty header.status, as none', async (name) => {
    for (const status of ['', null]) expectAck(await send(name, envelope(name, { header: { status } })), 'c-0001')
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
      'message: cannot be decrypted',
    )
    const unsaid = signed()
    const { header, message } = encrypted(unsaid, await publishedKey(server, 'RSA-OAEP-256'))
    const silent = { header: { ...header, is_msg_encrypted: undefined }, message }
    expectAck(await send('notify', signedBody(signer, silent), signer))
    expect((await kept(unsaid.header.message_id, signer))?.body.message).toEqual(unsaid.message)
    const lying = signed({ header: { is_msg_encrypted: true } })
    expectFault(
      await send('notify', signedBody(signer, lying), signer),
      400,
      'err.encryption.invalid',
      'header.is_msg_encrypted: must say whether message is an EncryptedMessage',
    )
  })
})
