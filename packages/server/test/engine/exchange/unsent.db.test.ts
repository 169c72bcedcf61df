/** A page whose entry was written and that was not committed: a second entry says that it was not sent. */

import { randomBytes } from 'node:crypto'
import type { AuditEntry } from '@rollcall/core/model/audit-entry'
import { afterEach, expect, it, type MockInstance, vi } from 'vitest'
import { subscribeLive } from '../../../../delivery/test/subscriptions.ts'
import { storedEntries } from '../../../../settings/test/audit-log.ts'
import {
  type AsyncPeer,
  accepted,
  answerExchange,
  asyncServer,
  byIdentifier,
  callbacksTo,
  deliverAll,
  searchFor,
} from '../../asynchronous.ts'
import { about, subscribeFor } from '../../subscribing.ts'

const people = [{ '@type': 'CRVS_Person', identifier: [{ identifier_type: 'UIN', identifier_value: 'U1' }] }]
const { server, registry, newPeer } = await asyncServer(people)
const { db } = server.database
const { auditLog } = server.context
afterEach(() => vi.restoreAllMocks())

/** Does something when the first entry of a page is written, before the page is committed. */
function afterEntry(work: () => Promise<unknown>): void {
  const { write } = auditLog
  let isDone = false
  vi.spyOn(auditLog, 'write').mockImplementation(async (entry, persons) => {
    await write.call(auditLog, entry, persons)
    if (entry.kind !== 'callback' || isDone) return
    isDone = true
    await work()
  })
}

async function entriesOf({ sender_id }: AsyncPeer): Promise<readonly Partial<AuditEntry>[]> {
  const all = (await storedEntries(db)).map(({ entry }) => entry)
  return all.filter(({ participant, kind }) => participant === sender_id && kind !== 'acknowledgement')
}

it('another node has claimed the exchange: the second entry names the message of the first, and nothing is sent', async () => {
  const peer = await newPeer()
  const id = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U1')]))
  const taken = () => db.pool.query('update accepted_exchange set claim = gen_random_uuid() where correlation_id = $1', [id])
  const { writeWith } = auditLog
  vi.spyOn(auditLog, 'writeWith').mockImplementation(async (...written) => {
    await taken()
    return writeWith.call(auditLog, ...written)
  })
  await answerExchange(server, id)
  await server.context.limiter.idle()
  const [first, second, ...others] = await entriesOf(peer)
  expect([first?.kind, second?.kind, others]).toEqual(['callback', 'unsent', []])
  expect(second).toMatchObject({
    note: 'not sent',
    ...{ registry: 'civil', operation: 'search', correlation_id: id },
    ...{ reply: first?.reply, transaction_id: first?.transaction_id, records: 0, outcomes: {}, shown: {} },
  })
  expect([first?.records, callbacksTo(peer.receiver)]).toEqual([1, []])
})

it('what the page was decided by has changed: it is made anew, and the one that was sent has one entry', async () => {
  const peer = await newPeer({ max_subscriptions: 1 })
  const id = await accepted(server, peer, subscribeFor(peer, [about('U1')]), 'subscribe')
  afterEntry(() => subscribeLive(db, registry, 'MARRIAGE', undefined, { participant: peer.id }))
  await answerExchange(server, id)
  await deliverAll(server)
  const entries = await entriesOf(peer)
  expect(entries.map(({ kind }) => kind)).toEqual(['callback', 'unsent', 'callback'])
  expect(entries[1]?.reply).toEqual(entries[0]?.reply)
  const sent = callbacksTo(peer.receiver).map(({ envelope }) => envelope)
  expect(sent.map(({ header }) => header.message_id)).toEqual([entries[2]?.reply?.message_id])
  expect(sent[0]?.message.subscribe_response[0].status).toBe('rjct')
})

it('the commit fails without a word of the database: nobody knows whether it was sent, and no entry says that it was not', async () => {
  const peer = await newPeer({ max_subscriptions: 1 })
  const id = await accepted(server, peer, subscribeFor(peer, [about('U1')]), 'subscribe')
  const begin = db.pool.connect.bind(db.pool) as (...given: unknown[]) => unknown
  afterEntry(async () => {
    // The transaction of the page has no callback; `query` of the pool has one.
    const connect = vi.spyOn(db.pool, 'connect') as unknown as MockInstance<(...given: unknown[]) => unknown>
    connect.mockImplementation((...given) => {
      if (given.length > 0) return begin(...given)
      connect.mockRestore()
      return Promise.reject(new Error('Connection terminated'))
    })
  })
  await expect(answerExchange(server, id)).rejects.toThrow('Connection terminated')
  expect((await entriesOf(peer)).map(({ kind }) => kind)).toEqual(['callback'])
})

it('a large request that was stored meanwhile is acknowledged as the first was, and one entry more says what was not sent', async () => {
  const peer = await newPeer()
  const body = searchFor(peer, [byIdentifier('UIN', 'U1')], {
    header: { meta: { padding: randomBytes(300_000).toString('base64') } },
  })
  const id = await accepted(server, peer, body)
  vi.spyOn(server.context.exchanges, 'known').mockResolvedValueOnce(null)
  expect(await accepted(server, peer, body)).toBe(id)
  const all = (await storedEntries(db)).map(({ entry }) => entry).filter(({ participant }) => participant === peer.sender_id)
  const others = all.filter(({ correlation_id }) => correlation_id !== id)
  expect(all.filter(({ correlation_id }) => correlation_id === id).map(({ kind }) => kind)).toEqual([
    'acknowledgement',
    'acknowledgement',
  ])
  expect(others.map(({ kind }) => kind)).toEqual(['acknowledgement', 'unsent'])
  expect(new Set(others.map(({ correlation_id }) => correlation_id)).size).toBe(1)
})
