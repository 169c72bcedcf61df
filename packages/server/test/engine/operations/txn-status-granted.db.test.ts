/** The status of an earlier answer under the grant of today. */

import type { GrantTerms } from '@rollcall/core/model/grant'
import { beforeAll, expect, it } from 'vitest'
import { grant } from '../../../../participants/test/grants.ts'
import { answerExchange, byExpression } from '../../asynchronous.ts'
import { statusServer } from '../../txn-status.ts'

const { server, peer, ask, search } = await statusServer()
let transaction_id: string

beforeAll(async () => {
  const sent = await search([byExpression({ surname: { eq: 'Okoro' } }, { pagination: { page_size: 3 } })])
  transaction_id = sent.transaction_id
  await answerExchange(server, sent.correlation_id)
})

/** The one item of the answer, under this grant. */
async function itemUnder(terms: Partial<GrantTerms>) {
  await grant(server.database, peer.sender_id, 'civil', terms)
  server.clock.pass(1_000)
  const { message } = await ask('transaction_id', transaction_id)
  return message.txnstatus_response.txn_status.search_response[0]
}

const WITHHELD = 'records of this answer are withheld under the grant of today; search again'

it('has what the grant shows, and counts as the grant says', async () => {
  const item = await itemUnder({ see: ['identifier'], counts: 'rounded' })
  expect(item.data.reg_records).toHaveLength(3)
  expect(item.data.reg_records[0]).not.toHaveProperty('name')
  expect(item.pagination.total_count).toBe(10)
  expect(item).not.toHaveProperty('status_reason_message')
})

it('has no records where conditions count that cannot be asked of what was cut', async () => {
  const item = await itemUnder({ rows: { Person: { surname: { eq: 'Okoro' } } } })
  expect(item).toMatchObject({ data: { reg_records: [] }, status_reason_message: WITHHELD })
})

it('has the records of a quota, and none above it', async () => {
  const terms = { records_per_day: 4 }
  expect((await itemUnder(terms)).data.reg_records).toHaveLength(3)
  expect(await itemUnder(terms)).toMatchObject({
    data: { reg_records: [] },
    status_reason_message: 'the records are withheld: the daily quota of records that is granted to this participant is used up',
  })
})

it('has no records where they are more than the rate of the grant has in a minute', async () => {
  expect(await itemUnder({ records_per_minute: 2 })).toMatchObject({
    data: { reg_records: [] },
    status_reason_message:
      'the records are withheld: they are more at once than this participant is granted in a minute; search again for smaller pages',
  })
  expect((await itemUnder({ records_per_minute: 3 })).data.reg_records).toHaveLength(3)
  // Nothing flows in while the test runs.
  await server.database.db.pool.query(
    `update quota_bucket set refilled_at = clock_timestamp() + interval '1 hour' where bucket like 'grant %'`,
  )
  expect(await itemUnder({ records_per_minute: 3 })).toMatchObject({
    data: { reg_records: [] },
    status_reason_message:
      'the records are withheld: the rate of records a minute that is granted to this participant is reached; ask again later',
  })
})

it('is nothing that there is where the operation is not granted any more', async () => {
  expect(await itemUnder({ operations: ['txn-status'] })).toMatchObject({
    status: 'rjct',
    status_reason_code: 'rjct.reference_id.invalid',
    status_reason_message:
      'txnstatus_request.attribute_value: names no transaction of this type that the sender has with this registry',
  })
})
