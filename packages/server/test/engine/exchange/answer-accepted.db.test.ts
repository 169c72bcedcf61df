import { randomUUID } from 'node:crypto'
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
  deliverAll,
  searchFor,
} from '../../asynchronous.ts'
import { answering } from '../../deliveries.ts'

const person = (n: number, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: `U${n}` }],
  name: { given_name: `p${n}`, surname: n < 40 ? 'Many' : 'Other' },
  birth_date: `2000-01-${String((n % 28) + 1).padStart(2, '0')}`,
  ...more,
})

import { secondsUntilDelivery } from '../../../../delivery/src/store/deliveries/destinations.ts'

const { server, registry, newPeer: joined } = await asyncServer(Array.from({ length: 45 }, (_, n) => person(n)))
let peer: AsyncPeer

afterEach(() => expect(server.logged()).not.toMatch(/Many|U41/))

async function newPeer() {
  peer = await joined()
  return peer
}

const ask = (items: readonly object[], changes = {}) => accepted(server, peer, searchFor(peer, items, changes))
const run = (correlation_id: string, attempt = 1) => answerExchange(server, correlation_id, { runs: attempt })
const sent = () => callbacksTo(peer.receiver)
const names = (item: { data: { reg_records: { name: { given_name: string } }[] } }) =>
  item.data.reg_records.map(({ name }) => name.given_name)
const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `p${from + index}`)

async function stateOf(correlation_id: string) {
  const { rows } = await server.database.db.pool.query(
    `select state, page, (select count(*) from delivery where correlation_id = $1) as deliveries,
       (select count(*) from exchange_item where correlation_id = $1) as items
     from accepted_exchange where correlation_id = $1`,
    [correlation_id],
  )
  return rows[0]
}

const searchResponses = validator(SearchResponse)

describe('an accepted search', () => {
  it('is called back as it would have been answered at once', async () => {
    await newPeer()
    const correlation_id = await ask([byIdentifier('UIN', 'U41'), byIdentifier('UIN', 'nobody'), byExpression({ shoe_size: 3 })])
    await run(correlation_id)
    expect(sent()).toHaveLength(1)
    const [{ path, envelope }] = sent() as [ReturnType<typeof sent>[number]]
    expect(path).toBe('/registry/on-search')
    expect(envelope).toEqual({
      signature: expect.stringMatching(/^namespace="registry", kidId="civil\.example\|/),
      header: {
        version: '1.0.0',
        message_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        message_ts: expect.stringMatching(/Z$/),
        action: 'on-search',
        status: 'succ',
        status_reason_message: '1 of 3 items rejected; see each item',
        total_count: 3,
        completed_count: 3,
        sender_id: 'civil.example',
        receiver_id: peer.sender_id,
        is_msg_encrypted: false,
        meta: {},
      },
      message: {
        transaction_id: 'tx-1',
        correlation_id,
        search_response: [
          {
            reference_id: 'r-0',
            timestamp: expect.stringMatching(/Z$/),
            status: 'succ',
            data: {
              version: '1.0.0',
              reg_type: 'ns:org:RegistryType:Civil',
              reg_record_type: 'Person',
              reg_records: [person(41)],
            },
            pagination: { page_size: 10, page_number: 1, total_count: 1 },
          },
          expect.objectContaining({ reference_id: 'r-1', status: 'succ' }),
          expect.objectContaining({
            reference_id: 'r-2',
            status: 'rjct',
            status_reason_code: 'rjct.search_criteria.invalid',
            status_reason_message: expect.stringMatching(/^search_criteria\.query\.shoe_size: /),
          }),
        ],
      },
    })
    expect(searchResponses.problem(envelope.message, 'message')).toBeNull()
    expect(await stateOf(correlation_id)).toEqual({ state: 'replied', page: 1, deliveries: 1, items: 3 })
  })

  it('goes where it was asked to, else to the address of its participant', async () => {
    await newPeer()
    const sender_uri = `${peer.receiver.url}/mine/on-search?x=1`
    await run(await ask([byIdentifier('UIN', 'U41')], { header: { sender_uri } }))
    expect(sent().map(({ path }) => path)).toEqual(['/mine/on-search?x=1'])
  })

  it('goes to the default address at the time of its attempt, when that has changed since its page was made', async () => {
    await newPeer()
    const correlation_id = await ask([byIdentifier('UIN', 'U41')])
    const { context, database } = server
    const before = { ...(await context.callbacks.of(peer)), default_url: 'https://before.example/dci' }
    // The first reading is that of the page. The attempt reads again.
    const of = vi.fn(context.callbacks.of).mockResolvedValueOnce(before)
    await answerExchange({ database, context: { ...context, callbacks: { of } } }, correlation_id)
    expect(sent().map(({ path }) => path)).toEqual(['/registry/on-search'])
  })

  it('is kept where there is nowhere to send it', async () => {
    await newPeer()
    await server.database.db.pool.query('update participant_callback set default_url = null where participant = $1', [peer.id])
    server.clock.pass(SETTINGS_AGE)
    const correlation_id = await ask([byIdentifier('UIN', 'U41')])
    await run(correlation_id)
    expect(sent()).toEqual([])
    const { rows } = await server.database.db.pool.query('select state, target, page from delivery where correlation_id = $1', [
      correlation_id,
    ])
    expect(rows).toEqual([{ state: 'held', target: null, page: 1 }])
  })

  it('is not answered twice, whoever runs it again', async () => {
    await newPeer()
    const correlation_id = await ask([byIdentifier('UIN', 'U41'), byIdentifier('UIN', 'U40')])
    await Promise.all([run(correlation_id), run(correlation_id), run(correlation_id)])
    await run(correlation_id)
    // Any of them may attempt the delivery, or leave it to the dispatcher.
    await deliverAll(server)
    expect(sent()).toHaveLength(1)
    expect(await stateOf(correlation_id)).toMatchObject({ state: 'replied', deliveries: 1, items: 2 })
  })

  it('is nobody, when it was forgotten', async () => {
    await newPeer()
    await expect(run(randomUUID())).resolves.toBeUndefined()
  })

  it('is attempted again later when its receiver fails', async () => {
    await newPeer()
    peer.receiver.answer = answering(503)
    await run(await ask([byIdentifier('UIN', 'U41')]))
    expect(sent()).toHaveLength(1)
    expect(await secondsUntilDelivery(server.database.db, peer.id)).toBeGreaterThan(0)
  })
})

describe('further pages', () => {
  it('wait for their turn among searches, and look-ups do not', async () => {
    await newPeer()
    const sharing = [1, 2, 3].map((n) => person(n, { phone_number: ['+1 555 0100'] }))
    await server.registry('civil', sharing, 'sharing')
    server.clock.pass(SETTINGS_AGE)
    const { searchSlots } = server.context.modes.async
    const busy = Promise.withResolvers<void>()
    const slots = [-1, -1, -1, -2, -2, -3].map((other) => searchSlots.run(other, () => busy.promise))
    const turns = vi.spyOn(searchSlots, 'run')
    const sharers = byIdentifier('MOBILE', '+1 555 0100', { pagination: { page_size: 2 } })
    const correlation_id = await accepted(server, peer, searchFor(peer, [sharers]), 'search', 'sharing')
    const pages = () => sent().map(({ envelope }) => names(envelope.message.search_response[0]))
    const answered = run(correlation_id)
    try {
      await expect.poll(() => turns.mock.calls.map(([participant]) => participant), { timeout: 60_000 }).toEqual([peer.id])
      expect(pages()).toEqual([['p1', 'p2']])
    } finally {
      turns.mockRestore()
      busy.resolve()
    }
    await Promise.all([answered, ...slots])
    expect(pages()).toEqual([['p1', 'p2'], ['p3']])
  })

  it('follow, each with the items that have one, until all that was found is sent', async () => {
    await newPeer()
    const correlation_id = await ask([
      byExpression({ surname: { eq: 'Many' } }, { pagination: { page_size: 15 } }),
      byIdentifier('UIN', 'U44'),
      byExpression({ surname: { eq: 'Other' } }, { pagination: { page_size: 3 } }),
      byExpression({ surname: { eq: 'Many' } }, { pagination: { page_size: 30, page_number: 2 } }),
    ])
    await run(correlation_id)
    const pages = sent().map(({ envelope }) => envelope)
    expect(
      pages.map(({ header, message }) => [
        header.total_count,
        header.completed_count,
        message.search_response.map((item: never) => [
          (item as { reference_id: string }).reference_id,
          (item as { pagination: object }).pagination,
          names(item).length,
        ]),
      ]),
    ).toEqual([
      [
        4,
        4,
        [
          ['r-0', { page_size: 15, page_number: 1, total_count: 40 }, 15],
          ['r-1', { page_size: 10, page_number: 1, total_count: 1 }, 1],
          ['r-2', { page_size: 3, page_number: 1, total_count: 5 }, 3],
          ['r-3', { page_size: 30, page_number: 2, total_count: 40 }, 10],
        ],
      ],
      [
        2,
        2,
        [
          ['r-0', { page_size: 15, page_number: 2, total_count: 40 }, 15],
          ['r-2', { page_size: 3, page_number: 2, total_count: 5 }, 2],
        ],
      ],
      [1, 1, [['r-0', { page_size: 15, page_number: 3, total_count: 40 }, 10]]],
    ])
    const first = pages.flatMap(({ message }) =>
      message.search_response.filter((item: { reference_id: string }) => item.reference_id === 'r-0'),
    )
    expect(first.flatMap(names)).toEqual(upTo(0, 40))
    expect(new Set(pages.map(({ header }) => header.message_id)).size).toBe(3)
    for (const { message } of pages) {
      expect(message).toMatchObject({ transaction_id: 'tx-1', correlation_id })
      expect(searchResponses.problem(message, 'message')).toBeNull()
    }
    expect(await stateOf(correlation_id)).toEqual({ state: 'replied', page: 3, deliveries: 3, items: 4 })
  })

  it('are of the records found at first, in that order, whatever changes; what is deleted is left out', async () => {
    const { table } = recordTable(registry, registry.kind.record_types[0])
    const { pool } = server.database.db
    await newPeer()
    const sort = [{ attribute_name: 'birth_date', sort_order: 'desc' }]
    const correlation_id = await ask([byExpression({ surname: { eq: 'Other' } }, { pagination: { page_size: 2 }, sort })])
    peer.receiver.answer = (response) => {
      if (sent().length > 1) return answering(200)(response, sent()[0] as never)
      // After the first page: one is renamed out of the result, one is deleted.
      pool
        .query(`update ${table} set surname = 'else' where primary_identifier = 'U42'`)
        .then(() => pool.query(`delete from ${table} where primary_identifier = 'U41'`))
        .then(() => response.end())
    }
    await run(correlation_id)
    const items = sent().map(({ envelope }) => envelope.message.search_response[0])
    expect(items.map(names)).toEqual([['p44', 'p43'], ['p42'], ['p40']])
    expect(items.map(({ pagination }) => pagination.total_count)).toEqual([5, 5, 5])
  })

  it('are shaped by the selection of their query', async () => {
    await newPeer()
    const query = '{ person(surname: {eq: "Many"}) { given: name { given_name } } }'
    await run(await ask([{ search_criteria: { query_type: 'graphql', query, pagination: { page_size: 25 } } }]))
    const [, second] = sent().map(({ envelope }) => envelope.message.search_response[0])
    expect(second.data.reg_records[0]).toEqual({ given: { given_name: 'p25' } })
    expect(second.data.reg_records).toHaveLength(15)
  })

  it('go on in another run after sixteen of them, and when the node is to stop', async () => {
    await newPeer()
    const due = async () => {
      const { rows } = await server.database.db.pool.query(
        `select claim is null and due_at <= now() as due from accepted_exchange where correlation_id = $1`,
        [correlation_id],
      )
      return rows[0].due
    }
    const correlation_id = await ask([byExpression({ surname: { eq: 'Many' } }, { pagination: { page_size: 2 } })])
    await run(correlation_id)
    expect(await stateOf(correlation_id)).toMatchObject({ state: 'replying', page: 16 })
    expect(await due()).toBe(true)
    await answerExchange(server, correlation_id, { runs: 1, signal: AbortSignal.abort() })
    expect(await stateOf(correlation_id)).toMatchObject({ state: 'replying', page: 17 })
    expect(await due()).toBe(true)
    await run(correlation_id)
    expect(await stateOf(correlation_id)).toMatchObject({ state: 'replied', page: 20 })
    expect(sent().flatMap(({ envelope }) => names(envelope.message.search_response[0]))).toEqual(upTo(0, 40))
  })
})
