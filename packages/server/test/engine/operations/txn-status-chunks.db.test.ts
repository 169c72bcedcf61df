/** The status of a batch that is answered in chunks. */
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { expect, it } from 'vitest'
import { accepted, answerExchange, asyncServer, byIdentifier, deliverAll, searchFor } from '../../asynchronous.ts'
import { askStatus } from '../../txn-status.ts'

const CHUNK_ITEMS = DEFAULT_LIMITS.chunk_items
const ITEMS = CHUNK_ITEMS + 2
const last = (position: number) => `r-${position}`

const person = { '@type': 'CRVS_Person', identifier: [{ identifier_type: 'UIN', identifier_value: 'U1' }] }
const { server, newPeer } = await asyncServer([person], { limits: { batch_items: 100_000 } })
const peer = await newPeer()
const nothing = { search_criteria: {} }
const asking = byIdentifier('UIN', 'U1')
const items = Array.from({ length: ITEMS }, (_, n) => (n === 0 || n >= CHUNK_ITEMS ? asking : nothing))
const correlation_id = await accepted(server, peer, searchFor(peer, items))

async function firstChunk(): Promise<string> {
  const { rows } = await server.database.db.pool.query(
    'select correlation_id from accepted_exchange where parent = $1 and chunk = 0',
    [correlation_id],
  )
  return rows[0].correlation_id
}

async function ask(attribute_type: string, attribute_value: unknown) {
  const { header, message } = await askStatus(server, peer, attribute_type, attribute_value)
  const { txn_status } = message.txnstatus_response
  return { header, items: txn_status.search_response, of: txn_status.correlation_id }
}

it('waits as a whole, then chunk by chunk, each of its items findable all the time', async () => {
  const names = ['r-0', last(CHUNK_ITEMS), last(CHUNK_ITEMS + 1)]
  const before = await ask('reference_id_list', names)
  expect(before.of).toBe(correlation_id)
  expect(before.items.map(({ status }: { status: string }) => status)).toEqual(['rcvd', 'rcvd', 'rcvd'])

  await answerExchange(server, await firstChunk())
  const halfway = await ask('reference_id_list', names)
  expect(halfway.items).toMatchObject([
    { reference_id: 'r-0', status: 'succ', data: { reg_records: [{}] } },
    { reference_id: last(CHUNK_ITEMS), status: 'pdng' },
    { reference_id: last(CHUNK_ITEMS + 1), status: 'pdng' },
  ])
  expect(halfway.header).toMatchObject({ total_count: 3, completed_count: 1 })
  expect((await ask('reference_id_list', last(CHUNK_ITEMS))).items).toMatchObject([{ status: 'pdng' }])

  await deliverAll(server)
  const after = await ask('reference_id_list', names)
  expect(after.items.map(({ data }: { data: { reg_records: object[] } }) => data.reg_records.length)).toEqual([1, 1, 1])

  const whole = await ask('correlation_id', correlation_id)
  expect(whole.header).toMatchObject({
    status: 'succ',
    status_reason_message:
      'answered in several chunks: the records of the first one are given; ask for others by reference_id_list',
    total_count: ITEMS,
    completed_count: ITEMS,
  })
  expect(whole.items[0]).toHaveProperty('data')
  expect(whole.items.slice(CHUNK_ITEMS)).toEqual(
    [CHUNK_ITEMS, CHUNK_ITEMS + 1].map((n) => ({
      reference_id: last(n),
      timestamp: expect.stringMatching(/Z$/),
      status: 'succ',
    })),
  )
})
