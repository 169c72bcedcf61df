/** Batches that are larger than one callback should be: files, which are answered portion by portion. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type AsyncPeer,
  asyncPeer,
  byExpression,
  byIdentifier,
  callbacksTo,
  searchFor,
} from '../../test/asynchronous.ts'
import { BOUNDARY, multipartBody, uploadParts } from '../../test/multipart.ts'
import { bearer, post, type TestServer, testServer } from '../../test/server.ts'
import { PORTION } from '../operations/portions.ts'
import { listReferences } from '../store/exchanges/references.ts'
import { process } from './process.ts'

let server: TestServer
let peer: AsyncPeer

beforeAll(async () => {
  server = await testServer()
  const people = Array.from({ length: 6 }, (_, n) => ({
    '@type': 'CRVS_Person',
    identifier: [{ identifier_type: 'UIN', identifier_value: `U${n}` }],
    name: { surname: n < 5 ? 'Five' : 'One' },
  }))
  await server.registry('civil', people)
})
afterAll(() => server.close())

const ITEMS = 2 * PORTION + 3

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
      asking[position] !== undefined && 'reference_id' in asking[position]
        ? []
        : [{ position, reference_id: `r-${position}` }],
    ),
  )
  return correlation_id
}

const sent = () => callbacksTo(peer.receiver).map(({ envelope }) => envelope)
const answers = () => sent().map(({ message }) => message.search_response)
const stateOf = async (correlation_id: string) => {
  const { rows } = await server.database.db.pool.query(
    'select state, page from accepted_exchange where correlation_id = $1',
    [correlation_id],
  )
  return rows[0]
}

const five = (page_size: number) => byExpression({ surname: { eq: 'Five' } }, { pagination: { page_size } })

it('each portion has its first page, and then those that have one a further page', async () => {
  const correlation_id = await uploaded({
    0: byIdentifier('UIN', 'u0'),
    [PORTION - 1]: five(3),
    [PORTION]: byIdentifier('UIN', 'u5'),
    [ITEMS - 1]: five(2),
  })
  await process(server.context, correlation_id)
  const all = answers()
  expect(all.map((items) => items.length)).toEqual([PORTION, PORTION, 3, 1, 1, 1])
  const order = all.slice(0, 3).flat()
  expect(order.map(({ reference_id }) => reference_id)).toEqual(
    Array.from({ length: ITEMS }, (_, index) => `r-${index}`),
  )
  expect(order.filter(({ status }) => status === 'succ').map(({ reference_id }) => reference_id)).toEqual(
    [0, PORTION - 1, PORTION, ITEMS - 1].map((index) => `r-${index}`),
  )
  const pages = all
    .slice(3)
    .map(([{ reference_id, pagination, data }]) => [
      ...[reference_id, pagination.page_number, pagination.total_count, data.reg_records.length],
    ])
  expect(pages).toEqual([
    [`r-${PORTION - 1}`, 2, 5, 2],
    [`r-${ITEMS - 1}`, 2, 5, 2],
    [`r-${ITEMS - 1}`, 3, 5, 1],
  ])
  expect(new Set(sent().map(({ message }) => message.correlation_id))).toEqual(new Set([correlation_id]))
  // The page 2 of the middle portion, which has none, is a step that is not taken.
  expect(await stateOf(correlation_id)).toEqual({ state: 'replied', page: 9 })
  await process(server.context, correlation_id)
  expect(sent()).toHaveLength(6)
  await peer.receiver.close()
})

it('a reference_id names one item of the whole file, and work that was interrupted goes on where it was', async () => {
  const twin = { ...five(2), reference_id: 'twin' }
  const correlation_id = await uploaded({ 1: twin, [ITEMS - 2]: twin })
  await process(server.context, correlation_id, { attempt: 1, signal: AbortSignal.abort() })
  expect(answers().map((items) => items.length)).toEqual([PORTION])
  expect(await stateOf(correlation_id)).toEqual({ state: 'replying', page: 1 })
  await process(server.context, correlation_id)
  expect(answers().map((items) => items.length)).toEqual([PORTION, PORTION, 3, 1, 1])
  const twins = answers()
    .slice(0, 3)
    .flat()
    .filter(({ reference_id }) => reference_id === 'twin')
  expect(twins.map(({ status, status_reason_code }) => status_reason_code ?? status)).toEqual([
    'succ',
    'rjct.reference_id.duplicate',
  ])
  await peer.receiver.close()
})

it('a failure is told for all that is still to be answered', async () => {
  const correlation_id = await uploaded({ 2: five(2), [PORTION + 1]: byIdentifier('UIN', 'u1') })
  const interrupted = AbortSignal.abort()
  await process(server.context, correlation_id, { attempt: 1, signal: interrupted })
  const query = (text: string) => server.database.db.pool.query(text)
  await query('alter table r1_person rename to hidden')
  try {
    await process(server.context, correlation_id, { attempt: 5 })
  } finally {
    await query('alter table hidden rename to r1_person')
  }
  const [, failed, ...more] = sent()
  expect(more).toEqual([])
  expect(failed.header).toMatchObject({ status: 'rjct', total_count: PORTION + 4 })
  const items: { reference_id: string }[] = failed.message.search_response
  // The first of them has a second page, which will not come; the others have not been answered at all.
  expect([
    items.length,
    ...items.slice(0, 2).map((item) => item.reference_id),
    items.at(-1)?.reference_id,
  ]).toEqual([PORTION + 4, 'r-2', `r-${PORTION}`, `r-${ITEMS - 1}`])
  expect(await stateOf(correlation_id)).toEqual({ state: 'failed', page: 2 })
  await peer.receiver.close()
})
