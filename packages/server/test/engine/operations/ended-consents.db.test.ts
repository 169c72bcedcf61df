/** Answers about several persons whose consents end one by one: the others are answered all the same. */
import { withdrawConsent } from '@rollcall/admin/consents/consents'
import { expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { accepted, answerExchange, asyncServer, byIdentifier, callbacksTo, deliverAll, searchFor } from '../../asynchronous.ts'
import { answering } from '../../deliveries.ts'
import { sentTo } from '../../subscribing.ts'
import { question } from '../../txn-status.ts'

const UINS = ['1', '2', '3', '4', '5', '6']
const person = (uin: string) => ({ '@type': 'CRVS_Person', identifier: [{ identifier_type: 'UIN', identifier_value: uin }] })
const { server, newPeer } = await asyncServer(UINS.map(person), { limits: { batch_items: 10, chunk_items: 2 } })
const { db } = server.database
const peer = await newPeer()
await grant(server.database, peer.sender_id, 'civil', {
  operations: ['search', 'txn-status'],
  query_forms: ['identifier'],
  see: ['identifier'],
  basis: 'consent',
  purposes: ['eligibility'],
})
server.clock.pass(1_000)

const asking = (uin: string) =>
  byIdentifier('UIN', uin, { consent: { ts: new Date().toISOString(), purpose: { code: 'eligibility' } } })
const searched = (...uins: string[]) => accepted(server, peer, searchFor(peer, uins.map(asking)))
const withdraw = (identifier_value: string) =>
  withdrawConsent(acting({ db, vault: server.context.vault }), {
    identifier_type: 'UIN',
    identifier_value,
    purpose: 'eligibility',
  })
/** Lets a consent end as by its time: nothing is stopped before the next attempt. */
const expire = (id: string, reference_id: string) =>
  db.pool.query('update consent_use set expires_at = now() where correlation_id = $1 and reference_id = $2', [id, reference_id])
/** Attempts again what the receiver did not take. */
async function attemptAgain(): Promise<void> {
  peer.receiver.answer = answering(200)
  await db.pool.query("update delivery set next_attempt_at = now() where state = 'pending'")
  await deliverAll(server)
}
const endOf = async (id: string, page = 1) =>
  (await db.pool.query('select state, reason from delivery where correlation_id = $1 and page = $2', [id, page])).rows

type Item = { readonly reference_id: string; readonly data: { readonly reg_records: readonly object[] } }
const recordsOf = (items: readonly Item[]) => items.map(({ reference_id, data }) => [reference_id, data.reg_records.length])

it('the consents of all persons of an answer are stored by one statement', async () => {
  const id = await searched('1', '2')
  await answerExchange(server, id)
  // Rows of one statement have the same cmin.
  const { rows: statements } = await db.pool.query('select distinct cmin from consent_use where correlation_id = $1', [id])
  expect(statements).toHaveLength(1)
  const { rows } = await db.pool.query('select reference_id from consent_use where correlation_id = $1 order by 1', [id])
  expect(rows).toEqual([{ reference_id: 'r-0' }, { reference_id: 'r-1' }])
  await deliverAll(server)
})

it('a status question is answered about those whose consents hold, and depends on these alone', async () => {
  const id = await searched('1', '2')
  await answerExchange(server, id)
  await withdraw('1')
  const ask = async (): Promise<string> => {
    const asked = await accepted(server, peer, question(peer, 'correlation_id', id), 'txn/status')
    await answerExchange(server, asked)
    await deliverAll(server)
    return asked
  }
  const { txn_status } = sentTo(peer, await ask()).message.txnstatus_response
  expect(recordsOf(txn_status.search_response)).toEqual([
    ['r-0', 0],
    ['r-1', 1],
  ])
  peer.receiver.answer = answering(503)
  const asked = await ask()
  await expire(asked, 'r-1')
  await attemptAgain()
  expect(await endOf(asked)).toEqual([{ state: 'dead', reason: 'not_permitted' }])
})

it('a chunk is sent although a consent of another chunk has ended, and not when one of its own has', async () => {
  const id = await searched('3', '4', '5', '6')
  const { rows } = await db.pool.query('select correlation_id from accepted_exchange where parent = $1 order by chunk', [id])
  const [first, second] = rows
  await answerExchange(server, first.correlation_id)
  await withdraw('3')
  peer.receiver.answer = answering(503)
  await answerExchange(server, second.correlation_id)
  await attemptAgain()
  const sent = callbacksTo(peer.receiver).filter(({ envelope }) => envelope.message.correlation_id === id)
  expect(recordsOf(sent.at(-1)?.envelope.message.search_response)).toEqual([
    ['r-2', 1],
    ['r-3', 1],
  ])

  const ended = await searched('4', '5', '6')
  peer.receiver.answer = answering(503)
  await deliverAll(server)
  await expire(ended, 'r-2')
  await attemptAgain()
  expect(await endOf(ended)).toMatchObject([{ state: 'delivered' }])
  expect(await endOf(ended, 2)).toEqual([{ state: 'dead', reason: 'not_permitted' }])
})
