/** Exchanges that cannot be answered, or not as a whole, and those whose answer must be encrypted. */

import { SearchResponse, validator } from '@rollcall/protocol'
import { recordTable } from '@rollcall/records/records/record-tables'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { SETTINGS_AGE } from '../../../../observe/test/clock.ts'
import {
  type AsyncPeer,
  accepted,
  answerExchange,
  asyncServer,
  byExpression,
  byIdentifier,
  callbacksTo,
  searchFor,
  withReceiver,
} from '../../asynchronous.ts'
import { answering, LOOPBACK } from '../../deliveries.ts'
import { encrypted, opened, publishedKey, sealingPeer, signedBody } from '../../sealing.ts'

const person = (n: number, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: `U${n}` }],
  name: { surname: 'Okoro' },
  ...more,
})

const {
  server,
  registry,
  newPeer: joined,
} = await asyncServer(
  Array.from({ length: 6 }, (_, n) => person(n)),
  { limits: { reply_bytes: 1_048_576, timestamp_window: 60 } },
)
const { table } = recordTable(registry, registry.kind.record_types[0])
let peer: AsyncPeer

afterEach(() => expect(server.logged()).not.toMatch(/Okoro/))

async function newPeer() {
  peer = await joined()
}

const query = (text: string, values: unknown[] = []) => server.database.db.pool.query(text, values)
const run = (correlation_id: string, attempt = 1) => answerExchange(server, correlation_id, { runs: attempt })
const sent = () => callbacksTo(peer.receiver).map(({ envelope }) => envelope)
const stateOf = async (correlation_id: string) =>
  (await query('select state, page from accepted_exchange where correlation_id = $1', [correlation_id])).rows[0]

/** While it lasts, every search fails. */
async function broken(work: () => Promise<void>) {
  await query(`alter table ${table} rename to hidden`)
  try {
    await work()
  } finally {
    await query(`alter table hidden rename to ${table}`)
  }
}

const FAILED = 'the registry failed; nothing is known to be wrong with this item'

describe('a failure of the registry', () => {
  it('is tried again four times, then told to the sender, for every item', async () => {
    await newPeer()
    const body = searchFor(peer, [byIdentifier('UIN', 'U1'), { ...byIdentifier('UIN', 'U2'), locale: 'fra' }])
    const correlation_id = await accepted(server, peer, body)
    await broken(async () => {
      for (const attempt of [1, 2, 3, 4]) await expect(run(correlation_id, attempt)).rejects.toThrow('does not exist')
      expect(sent()).toEqual([])
      expect(await stateOf(correlation_id)).toEqual({ state: 'accepted', page: 0 })
      await run(correlation_id, 5)
    })
    const [envelope, ...others] = sent()
    expect(others).toEqual([])
    expect(envelope.header).toMatchObject({
      action: 'on-search',
      status: 'rjct',
      status_reason_message: 'the registry failed to answer this request; it may be sent again under a new message_id',
      total_count: 2,
      completed_count: 2,
    })
    expect(envelope.header).not.toHaveProperty('status_reason_code')
    const item = { timestamp: expect.stringMatching(/Z$/), status: 'rjct', status_reason_message: FAILED }
    expect(envelope.message).toEqual({
      transaction_id: 'tx-1',
      correlation_id,
      search_response: [
        { reference_id: 'r-0', ...item },
        { reference_id: 'r-1', ...item, locale: 'fra' },
      ],
    })
    expect(validator(SearchResponse).problem(envelope.message, 'message')).toBeNull()
    expect(await stateOf(correlation_id)).toEqual({ state: 'failed', page: 1 })
    await run(correlation_id, 6)
    expect(sent()).toHaveLength(1)
  })

  it('that passes leaves nothing behind', async () => {
    await newPeer()
    const correlation_id = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U1')]))
    await broken(() => expect(run(correlation_id)).rejects.toThrow('does not exist'))
    await run(correlation_id, 2)
    expect(sent().map(({ header }) => header.status)).toEqual(['succ'])
  })

  it('between two pages is told for the items that had one more', async () => {
    await newPeer()
    const body = searchFor(peer, [
      byIdentifier('UIN', 'U1'),
      byExpression({ surname: { eq: 'Okoro' } }, { pagination: { page_size: 4 } }),
    ])
    const correlation_id = await accepted(server, peer, body)
    peer.receiver.answer = (response) => {
      query(`alter table ${table} rename to hidden`).then(() => response.end())
    }
    try {
      await expect(run(correlation_id, 4)).rejects.toThrow('does not exist')
      peer.receiver.answer = answering(200)
      await run(correlation_id, 5)
    } finally {
      await query(`alter table hidden rename to ${table}`)
    }
    expect(sent().map(({ header }) => header.status)).toEqual(['succ', 'rjct'])
    expect(sent()[1]).toMatchObject({
      header: {
        status_reason_message:
          'the registry failed to answer this page and those after it; the request may be sent again under a new message_id',
        total_count: 1,
        completed_count: 1,
      },
      message: { search_response: [{ reference_id: 'r-1', status: 'rjct', status_reason_message: FAILED }] },
    })
    expect(await stateOf(correlation_id)).toEqual({ state: 'failed', page: 2 })
  })

  it('makes no item older than it was when it was received', async () => {
    await newPeer()
    const old = { ...byIdentifier('UIN', 'U1'), timestamp: new Date(Date.now() - 90_000).toISOString() }
    const correlation_id = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U1'), old]))
    const waited = `update accepted_exchange set received_at = now() - interval '100 seconds' where correlation_id = $1`
    await query(waited, [correlation_id])
    await run(correlation_id, 5)
    const [fresh, older] = sent()[0].message.search_response
    expect(fresh).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.timestamp.invalid',
      status_reason_message: 'timestamp: must lie within 60 seconds of the receipt of the request',
    })
    expect(older).toMatchObject({ status: 'succ' })
  })

  it('that ends the process each time is told in the end, and its request is not opened for that', async () => {
    await newPeer()
    const body = searchFor(peer, [byIdentifier('UIN', 'U1'), byIdentifier('UIN', 'U2')])
    const correlation_id = await accepted(server, peer, body)
    const opened = vi.spyOn(server.context.bodies, 'decryptBody')
    try {
      await run(correlation_id, 21)
      expect(opened).not.toHaveBeenCalled()
    } finally {
      opened.mockRestore()
    }
    expect(sent()).toMatchObject([
      {
        header: { status: 'rjct', total_count: 2, completed_count: 0 },
        message: { transaction_id: 'tx-1', correlation_id, search_response: [] },
      },
    ])
    expect(await stateOf(correlation_id)).toEqual({ state: 'failed', page: 1 })
    expect(server.logged()).toContain('every run of it was cut short')
  })

  it('to read the request is told at once: it would never pass', async () => {
    await newPeer()
    const body = searchFor(peer, [byIdentifier('UIN', 'U1'), byIdentifier('UIN', 'U2')])
    const correlation_id = await accepted(server, peer, body)
    await query(
      'update accepted_exchange set request = (select request from accepted_exchange where correlation_id <> $1 limit 1) where correlation_id = $1',
      [correlation_id],
    )
    await run(correlation_id)
    expect(sent()).toMatchObject([
      {
        header: { status: 'rjct', total_count: 2, completed_count: 0 },
        message: { transaction_id: 'tx-1', correlation_id, search_response: [] },
      },
    ])
  })
})

describe('whoever may not call any more', () => {
  it('is sent nothing, and neither is it found out later', async () => {
    await newPeer()
    const correlation_id = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U1')]))
    await query(`update participant set status = 'disabled' where id = $1`, [peer.id])
    server.clock.pass(SETTINGS_AGE)
    await run(correlation_id)
    expect(await stateOf(correlation_id)).toEqual({ state: 'failed', page: 0 })
    await query(`update participant set status = 'active' where id = $1`, [peer.id])
    server.clock.pass(SETTINGS_AGE)
    await run(correlation_id, 2)
    expect(sent()).toEqual([])
    const { rows } = await query('select from delivery where correlation_id = $1', [correlation_id])
    expect(rows).toEqual([])
  })
})

describe('the records of one callback', () => {
  it('are bounded: the items above it are rejected, on the first page and on others', async () => {
    await newPeer()
    const wide = await server.registry(
      'civil',
      Array.from({ length: 12 }, (_, n) => person(n, { name: { surname: 'Wide' }, pad: 'x'.repeat(100_000) })),
      'wide',
    )
    const six = byExpression({ surname: { eq: 'Wide' } }, { pagination: { page_size: 6 } })
    const body = searchFor(peer, [six, byIdentifier('UIN', 'U1'), six])
    await run(await accepted(server, peer, body, 'search', 'wide'))
    const rejected = {
      status: 'rjct',
      status_reason_code: 'rjct.search.too_many_records_found',
      status_reason_message:
        'search_criteria: the records of this answer are too many; send fewer items or ask for smaller pages',
    }
    expect(sent().map(({ message }) => message.search_response)).toMatchObject([
      [{ status: 'succ' }, { status: 'succ' }, rejected],
      [{ reference_id: 'r-0', status: 'succ', pagination: { page_number: 2 } }],
    ])

    // Growth since the first page counts with its present size.
    const growing = recordTable(wide, wide.kind.record_types[0]).table
    peer.receiver.answer = (response) => {
      query(`update ${growing} set document = replace(document, 'xxxx', 'xxxxxxxx')`).then(() => response.end())
    }
    await run(await accepted(server, peer, searchFor(peer, [six]), 'search', 'wide'))
    expect(sent().slice(2)).toMatchObject([
      { message: { search_response: [{ status: 'succ' }] } },
      {
        header: { status: 'rjct', status_reason_code: 'rjct.errors.too_many' },
        message: { search_response: [{ reference_id: 'r-0', ...rejected }] },
      },
    ])
  })
})

describe('an encrypted request', () => {
  it('is answered encrypted, on every page', async () => {
    const sealing = await sealingPeer(server, 'sealing.example', { decrypts: 'P-256', settings: { outgoing: [LOOPBACK] } })
    const taking = await withReceiver(server, sealing)
    peer = taking
    const plain = searchFor(peer, [byExpression({ surname: { eq: 'Okoro' } }, { pagination: { page_size: 4 } })])
    const body = signedBody(sealing, encrypted(plain, await publishedKey(server, 'RSA-OAEP-256')))
    const correlation_id = await accepted(server, peer, body)
    await run(correlation_id)
    const raw = peer.receiver.received.map(({ body: text }) => text)
    expect(raw).toHaveLength(2)
    expect(raw.join()).not.toContain('Okoro')
    const messages = sent().map((envelope) => opened({ status: 200, headers: new Headers(), body: envelope }, sealing))
    expect(messages.map(({ search_response }) => search_response[0].data.reg_records.length)).toEqual([4, 2])
    expect(messages[1]).toMatchObject({ correlation_id, transaction_id: 'tx-1' })
  })
})
