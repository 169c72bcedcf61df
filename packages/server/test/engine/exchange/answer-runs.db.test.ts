/** Runs of one exchange that end between a commit and what follows it, or meet another run. */
import { expect, test, vi } from 'vitest'
import { secondsUntilDelivery } from '../../../../delivery/src/store/deliveries/destinations.ts'
import { grant } from '../../../../participants/test/grants.ts'
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

const people = Array.from({ length: 6 }, (_, n) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: `U${n}` }],
  name: { surname: 'Okoro' },
}))
const { server, newPeer: joined } = await asyncServer(people)
let peer: AsyncPeer

async function newPeer() {
  peer = await joined()
}

const query = (text: string, values: unknown[] = []) => server.database.db.pool.query(text, values)
const pages = () => callbacksTo(peer.receiver).map(({ envelope }) => envelope.message.search_response[0])

test('a delivery whose attempt could not be recorded is attempted again when its claim ends', async () => {
  await newPeer()
  const correlation_id = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U1')]))
  peer.receiver.answer = (response) => {
    query('alter table delivery_attempt rename to hidden').then(() => response.end())
  }
  try {
    await answerExchange(server, correlation_id, { runs: 5 })
  } finally {
    await query('alter table hidden rename to delivery_attempt')
  }
  const { rows } = await query('select state from delivery where correlation_id = $1', [correlation_id])
  expect(rows).toEqual([{ state: 'pending' }])
  expect(await secondsUntilDelivery(server.database.db, peer.id)).toBeGreaterThan(1)
  expect(await secondsUntilDelivery(server.database.db, peer.id)).toBeLessThanOrEqual(15)
})

/** A run, and in the middle of it another one, whose claim is the newer one. */
async function overtakenRun(correlation_id: string, other: () => Promise<void>): Promise<void> {
  const { bodies } = server.context
  const sealed = vi.spyOn(bodies, 'encryptBody').mockImplementationOnce(async (...given) => {
    sealed.mockRestore()
    await other()
    return bodies.encryptBody(...given)
  })
  await answerExchange(server, correlation_id)
}

test('a run whose claim has ended changes nothing: what the other run left goes on', async () => {
  await newPeer()
  const item = byExpression({ surname: { eq: 'Okoro' } }, { pagination: { page_size: 4 } })
  const correlation_id = await accepted(server, peer, searchFor(peer, [item]))
  // The other run makes the first page, and is to stop then.
  await overtakenRun(correlation_id, () => answerExchange(server, correlation_id, { runs: 1, signal: AbortSignal.abort() }))
  expect(pages().map(({ pagination }) => pagination.page_number)).toEqual([1])
  await deliverAll(server)
  expect(pages().map(({ pagination }) => pagination.page_number)).toEqual([1, 2])
})

test('a run that began before the other one made the last page sends nothing', async () => {
  await newPeer()
  const correlation_id = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U1')]))
  await overtakenRun(correlation_id, () => answerExchange(server, correlation_id))
  await deliverAll(server)
  expect(pages()).toHaveLength(1)
})

test('a grant that is narrowed between two pages counts for the second one', async () => {
  await newPeer()
  const item = byExpression({ surname: { eq: 'Okoro' } }, { pagination: { page_size: 4 } })
  const correlation_id = await accepted(server, peer, searchFor(peer, [item]))
  peer.receiver.answer = (response) => {
    if (peer.receiver.received.length > 1) return response.end()
    grant(server.database, peer.sender_id, 'civil', { see: ['identifier'] }).then(() => {
      server.clock.pass(1_000)
      response.end()
    })
  }
  await answerExchange(server, correlation_id)
  await deliverAll(server)
  const named = pages().map(({ data }) => data.reg_records.map((record: object) => 'name' in record))
  expect(named).toEqual([
    [true, true, true, true],
    [false, false],
  ])
})

test('an exchange whose grant is revoked between two pages has no second one', async () => {
  await newPeer()
  const item = byExpression({ surname: { eq: 'Okoro' } }, { pagination: { page_size: 4 } })
  const correlation_id = await accepted(server, peer, searchFor(peer, [item]))
  peer.receiver.answer = (response) => {
    query('update participant_grant set revoked_at = now() where participant = $1', [peer.id]).then(() => {
      server.clock.pass(1_000)
      response.end()
    })
  }
  await answerExchange(server, correlation_id)
  expect(pages()).toHaveLength(1)
  const { rows } = await query('select state from accepted_exchange where correlation_id = $1', [correlation_id])
  expect(rows).toEqual([{ state: 'failed' }])
})

test('only the run that gives up an exchange logs it, not one whose claim has ended', async () => {
  await newPeer()
  const correlation_id = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U1')]))
  const logged = () =>
    server
      .logged()
      .split('\n')
      .filter((line) => line.includes(correlation_id) && line.includes('an exchange is not answered'))
  await query('update participant_grant set revoked_at = now() where participant = $1', [peer.id])
  server.clock.pass(1_000)
  const read = vi.spyOn(server.context.grants, 'of').mockImplementationOnce(async () => {
    read.mockRestore()
    await query('update accepted_exchange set claim = gen_random_uuid() where correlation_id = $1', [correlation_id])
    return null
  })
  await answerExchange(server, correlation_id)
  const stateOf = 'select state from accepted_exchange where correlation_id = $1'
  expect((await query(stateOf, [correlation_id])).rows).toEqual([{ state: 'accepted' }])
  expect(logged()).toEqual([])
  await answerExchange(server, correlation_id)
  expect((await query(stateOf, [correlation_id])).rows).toEqual([{ state: 'failed' }])
  expect(logged()).toHaveLength(1)
})

test('an exchange is not given up for a grant or a participant of which this node has an older state', async () => {
  await newPeer()
  const correlation_id = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U1')]))
  const { directory, grants } = server.context
  const participant = await directory.participantById(peer.id)
  if (participant === null) throw new Error('there is no participant')
  const stateNow = async () =>
    (await query('select state from accepted_exchange where correlation_id = $1', [correlation_id])).rows
  vi.spyOn(grants, 'of').mockResolvedValueOnce(null)
  await expect(answerExchange(server, correlation_id)).rejects.toThrow('the stored grant may permit the exchange')
  vi.spyOn(directory, 'participantById').mockResolvedValueOnce({ ...participant, status: 'disabled' })
  await expect(answerExchange(server, correlation_id)).rejects.toThrow('the stored grant may permit the exchange')
  expect(await stateNow()).toEqual([{ state: 'accepted' }])
  vi.restoreAllMocks()
  await answerExchange(server, correlation_id)
  expect(await stateNow()).toEqual([{ state: 'replied' }])
})

test('an exchange under a grant that this version cannot read is answered when it can be read', async () => {
  await newPeer()
  const correlation_id = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U1')]))
  await grant(server.database, peer.sender_id, 'civil', { operations: ['search', 'of-later'] })
  server.clock.pass(1_000)
  // Also after the runs until a failure is final.
  await expect(answerExchange(server, correlation_id, { runs: 6 })).rejects.toThrow('the stored grant may permit the exchange')
  await grant(server.database, peer.sender_id, 'civil', {})
  server.clock.pass(1_000)
  await answerExchange(server, correlation_id)
  await deliverAll(server)
  expect(pages()).toHaveLength(1)
})
