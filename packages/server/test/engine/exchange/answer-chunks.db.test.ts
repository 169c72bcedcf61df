/** Batches that are larger than one callback should be: files, which are cut into chunks when they are accepted. */
import { createHash } from 'node:crypto'
import { requestBodyBinding } from '@rollcall/core/model/exchange'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { clearAnsweredRecordIds } from '../../../../engine/src/store/exchanges/forget-exchanges.ts'
import { listReferences } from '../../../../engine/src/store/exchanges/references.ts'
import { BOUNDARY, multipartBody, uploadParts } from '../../../../engine/test/multipart.ts'
import {
  type AsyncPeer,
  answerExchange,
  asyncPeer,
  byExpression,
  byIdentifier,
  callbacksTo,
  deliverAll,
  searchFor,
} from '../../asynchronous.ts'
import { bearer, post, type TestServer, testServer } from '../../server.ts'

/** A batch of the usual size is cut in `txn-status-chunks.db.test.ts`. */
const CHUNK_ITEMS = 20

let server: TestServer
let peer: AsyncPeer

beforeAll(async () => {
  server = await testServer({ limits: { chunk_items: CHUNK_ITEMS } })
  const people = Array.from({ length: 6 }, (_, n) => ({
    '@type': 'CRVS_Person',
    identifier: [{ identifier_type: 'UIN', identifier_value: `U${n}` }],
    name: { surname: n < 5 ? 'Five' : 'One' },
  }))
  await server.registry('civil', people)
})
afterAll(() => server.close())

const ITEMS = 2 * CHUNK_ITEMS + 3

/** A file of so many items, of which these few ask for something; the others are rejected without a look. */
async function uploaded(asking: Readonly<Record<number, object>>): Promise<string> {
  peer = await asyncPeer(server, `peer-${Object.keys(asking).join('-')}.example`)
  const nothing = { search_criteria: {} }
  const { header, message } = searchFor(
    peer,
    Array.from({ length: ITEMS }, (_, index) => asking[index] ?? nothing),
  )
  const file = message.search_request.map((item) => JSON.stringify(item)).join('\n')
  const file_sha256 = createHash('sha256').update(file).digest('hex')
  const envelope = { header, message: { transaction_id: 'tx-file', file_sha256 } }
  const body = multipartBody(uploadParts({ fileFormat: 'ndjson', envelope, file }))
  const type = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` }
  const url = `${server.url}/civil/v1.0.0/registry/search`
  const answer = await post(url, new Uint8Array(body), { ...bearer(peer), ...type })
  expect([answer.status, answer.body.message.error]).toEqual([200, undefined])
  const { correlation_id } = answer.body.message
  expect(await listReferences(server.database.db, correlation_id, ['r-0', `r-${ITEMS - 2}`])).toEqual(
    [0, ITEMS - 2].flatMap((position) =>
      asking[position] !== undefined && 'reference_id' in asking[position] ? [] : [{ position, reference_id: `r-${position}` }],
    ),
  )
  return correlation_id
}

/** In the order of the items and their pages: what follows a slow attempt is left to the dispatcher. */
const sent = () =>
  callbacksTo(peer.receiver)
    .map(({ envelope }) => envelope)
    .sort((a, b) => positionOf(a) - positionOf(b))
const positionOf = ({ message }: ReturnType<typeof callbacksTo>[number]['envelope']): number => {
  const [{ reference_id, pagination }] = message.search_response
  const item = /^r-(\d+)$/.exec(reference_id)?.[1] ?? 0
  return Number(item) * 10 + (pagination?.page_number ?? 1)
}
const answers = () => sent().map(({ message }) => message.search_response)
const stateOf = async (correlation_id: string) => {
  const { rows } = await server.database.db.pool.query('select state, page from accepted_exchange where correlation_id = $1', [
    correlation_id,
  ])
  return rows[0]
}

const five = (page_size: number) => byExpression({ surname: { eq: 'Five' } }, { pagination: { page_size } })

/** The rows of the chunks, in their order. */
async function chunksOf(correlation_id: string): Promise<string[]> {
  const { rows } = await server.database.db.pool.query(
    'select correlation_id from accepted_exchange where parent = $1 order by chunk',
    [correlation_id],
  )
  return rows.map((row) => row.correlation_id)
}

it('each chunk is answered by itself, with all of its pages, under the correlation_id of the request', async () => {
  const correlation_id = await uploaded({
    0: byIdentifier('UIN', 'u0'),
    [CHUNK_ITEMS - 1]: five(3),
    [CHUNK_ITEMS]: byIdentifier('UIN', 'u5'),
    [ITEMS - 1]: five(2),
  })
  for (const chunk of await chunksOf(correlation_id)) await answerExchange(server, chunk)
  await deliverAll(server)
  const all = answers()
  expect(all.map((items) => items.length)).toEqual([CHUNK_ITEMS, 1, CHUNK_ITEMS, 3, 1, 1])
  const order = [0, 2, 3].flatMap((at) => all[at])
  expect(order.map(({ reference_id }) => reference_id)).toEqual(Array.from({ length: ITEMS }, (_, index) => `r-${index}`))
  expect(order.filter(({ status }) => status === 'succ').map(({ reference_id }) => reference_id)).toEqual(
    [0, CHUNK_ITEMS - 1, CHUNK_ITEMS, ITEMS - 1].map((index) => `r-${index}`),
  )
  const pages = [1, 4, 5].map((at) => {
    const [{ reference_id, pagination, data }] = all[at]
    return [reference_id, pagination.page_number, pagination.total_count, data.reg_records.length]
  })
  expect(pages).toEqual([
    [`r-${CHUNK_ITEMS - 1}`, 2, 5, 2],
    [`r-${ITEMS - 1}`, 2, 5, 2],
    [`r-${ITEMS - 1}`, 3, 5, 1],
  ])
  expect(new Set(sent().map(({ message }) => message.correlation_id))).toEqual(new Set([correlation_id]))
  expect(await stateOf(correlation_id)).toMatchObject({ state: 'replied' })
  await deliverAll(server)
  expect(sent()).toHaveLength(6)
  await peer.receiver.close()
})

it('a reference_id names one item of the whole file, and work that was interrupted goes on where it was', async () => {
  const same = { ...five(2), reference_id: 'same' }
  const correlation_id = await uploaded({ 1: same, [ITEMS - 2]: same })
  const [first = ''] = await chunksOf(correlation_id)
  await answerExchange(server, first, { signal: AbortSignal.abort() })
  await server.context.limiter.idle()
  expect(answers().map((items) => items.length)).toEqual([CHUNK_ITEMS])
  expect(await stateOf(correlation_id)).toMatchObject({ state: 'accepted' })
  await deliverAll(server)
  expect(
    answers()
      .map((items) => items.length)
      .sort((a, b) => b - a),
  ).toEqual([CHUNK_ITEMS, CHUNK_ITEMS, 3, 1, 1])
  const found = answers()
    .flat()
    .filter(({ reference_id, pagination }) => reference_id === 'same' && (pagination?.page_number ?? 1) === 1)
  expect(found.map(({ status, status_reason_code }) => status_reason_code ?? status).sort()).toEqual([
    'rjct.reference_id.duplicate',
    'succ',
  ])
  expect(await stateOf(correlation_id)).toMatchObject({ state: 'replied' })
  await peer.receiver.close()
})

it('a failure is said for every item of its chunk, and the other chunks are answered', async () => {
  const correlation_id = await uploaded({ 2: five(2), [CHUNK_ITEMS + 1]: byIdentifier('UIN', 'u1') })
  const [first = '', second = '', third = ''] = await chunksOf(correlation_id)
  // The first chunk has sent one of its pages when the second one fails.
  await answerExchange(server, first, { signal: AbortSignal.abort() })
  const query = (text: string) => server.database.db.pool.query(text)
  await query('alter table r1_person rename to hidden')
  try {
    await answerExchange(server, second, { runs: 5 })
  } finally {
    await query('alter table hidden rename to r1_person')
  }
  await clearAnsweredRecordIds(server.database.db)
  await answerExchange(server, first)
  await answerExchange(server, third)
  await deliverAll(server)
  expect(answers().map((items) => items.length)).toEqual([CHUNK_ITEMS, 1, 1, CHUNK_ITEMS, 3])
  expect([1, 2].map((at) => answers()[at][0].data.reg_records.length)).toEqual([2, 1])
  const failed = sent()[3]
  expect(failed.header).toMatchObject({ status: 'rjct', total_count: CHUNK_ITEMS })
  expect([0, CHUNK_ITEMS - 1].map((at) => failed.message.search_response[at].reference_id)).toEqual([
    `r-${CHUNK_ITEMS}`,
    `r-${2 * CHUNK_ITEMS - 1}`,
  ])
  expect(await stateOf(correlation_id)).toMatchObject({ state: 'failed' })
  expect(await clearAnsweredRecordIds(server.database.db)).toBe(1)
  await peer.receiver.close()
})

it('a chunk of an earlier version reads its items, and the references before them, from the request of its parent', async () => {
  const named = (reference_id: string) => ({ ...byIdentifier('UIN', 'u5'), reference_id })
  const correlation_id = await uploaded({ 1: named('same'), [CHUNK_ITEMS]: named('asked'), [CHUNK_ITEMS + 1]: named('same') })
  const { pool } = server.database.db
  const [, second = ''] = await chunksOf(correlation_id)
  // As the upgrade leaves it: the whole request with the parent, none with the chunk, and no references.
  const { rows } = await pool.query('select correlation_id, request from accepted_exchange where parent = $1 order by chunk', [
    correlation_id,
  ])
  const { bodies } = server.context
  const parts = await Promise.all(
    rows.map(async (row) => JSON.parse(await bodies.decryptBody(row.request, requestBodyBinding(row.correlation_id)))),
  )
  const search_request = parts.flatMap(({ message }) => message.search_request)
  const whole = { ...parts[0], message: { ...parts[0].message, search_request } }
  const request = await bodies.encryptBody(JSON.stringify(whole), requestBodyBinding(correlation_id))
  await pool.query('update accepted_exchange set request = $2, references_stored = false where correlation_id = $1', [
    correlation_id,
    request,
  ])
  await pool.query('delete from exchange_reference where correlation_id = $1', [correlation_id])
  await pool.query('update accepted_exchange set request = null, request_bytes = null where parent = $1', [correlation_id])
  await answerExchange(server, second)
  await server.context.limiter.idle()
  const [items] = answers()
  expect(items).toHaveLength(CHUNK_ITEMS)
  expect(items[0]).toMatchObject({ reference_id: 'asked', status: 'succ', data: { reg_records: [{}] } })
  expect(items[1]).toMatchObject({
    reference_id: 'same',
    status: 'rjct',
    status_reason_code: 'rjct.reference_id.duplicate',
    status_reason_message: 'reference_id: names an earlier item of this batch',
  })
  await peer.receiver.close()
})
