/** The rates of a grant: items asked and records delivered in a minute, by the shared buckets. */
import { beforeEach, expect, it } from 'vitest'
import { storedEntries } from '../../../../settings/test/audit-log.ts'
import { accepted, searchFor } from '../../asynchronous.ts'
import { expectFault } from '../../expectations.ts'
import { byUin, expression, grantedServer } from '../../granted.ts'
import { postSearch } from '../../server.ts'

const { server, peer, ask, item, granted, pagesOf } = await grantedServer()
const TOO_MANY = 'rjct.search.too_many_records_found'

/** In a bucket whose time is ahead nothing flows in: no test depends on how fast it runs. */
const later = (interval: string) =>
  server.database.db.pool.query(
    `update quota_bucket set refilled_at = clock_timestamp() + $1::interval where bucket like 'grant %'`,
    [interval],
  )
beforeEach(() => server.database.db.pool.query(`delete from quota_bucket where bucket like 'grant %'`))

it('of items refuses a message of one item, until the bucket has filled', async () => {
  await granted({ query_forms: 'all', ask: 'all', items_per_minute: 2 })
  expect(await item(expression({ UIN: { $in: ['1', '2'] } }))).toMatchObject({ status: 'succ' })
  await later('1 hour')
  const refused = await ask(byUin('1'))
  expectFault(
    refused,
    429,
    'err.request.too_many_requests',
    'too many requests: the rate of 2 items a minute that is granted to this participant is reached; ask again in 30 seconds',
  )
  expect(refused.headers.get('retry-after')).toBe('30')
  await later('-30 seconds')
  expect(await item(byUin('1'))).toMatchObject({ status: 'succ' })
})

it('rejects the items of a batch that come after it is reached, and answers those before', async () => {
  await granted({ items_per_minute: 1 })
  const batch = ['1', '2', '3'].map((one) => ({ search_criteria: byUin(one) }))
  const { status, body } = await postSearch(server, peer, batch)
  const items: { status: string; status_reason_code?: string; status_reason_message?: string }[] = body.message.search_response
  expect([status, items.map((one) => one.status).toSorted()]).toEqual([200, ['rjct', 'rjct', 'succ']])
  const [rejected] = items.filter((one) => one.status === 'rjct')
  expect(rejected).toMatchObject({
    status_reason_code: TOO_MANY,
    status_reason_message: expect.stringMatching(
      /^search_criteria: the rate of 1 items a minute that is granted to this participant is reached; ask again in \d+ seconds$/,
    ),
  })
})

it('rejects an item of a message that is answered later', async () => {
  await granted({ items_per_minute: 1 })
  expect(await item(byUin('1'))).toMatchObject({ status: 'succ' })
  await later('1 hour')
  const id = await accepted(server, peer, searchFor(peer, [{ search_criteria: byUin('1') }]))
  expect(await pagesOf(id)).toMatchObject([{ status: 'rjct', status_reason_code: TOO_MANY }])
})

it('says of more at once than a minute has that they are never given, and takes nothing', async () => {
  await granted({ query_forms: 'all', ask: 'all', items_per_minute: 2 })
  expect(await item(expression({ UIN: { $in: ['1', '2', '3'] } }))).toMatchObject({
    status: 'rjct',
    status_reason_code: TOO_MANY,
    status_reason_message:
      'search_criteria: at most 2 items a minute are granted to this participant, and these are more at once; ask for fewer',
  })
  expect(await item(expression({ UIN: { $in: ['1', '2'] } }))).toMatchObject({ status: 'succ' })
})

it('of records counts those that are delivered, an answer without one as one; who was looked up has an audit entry', async () => {
  await granted({ query_forms: 'all', ask: 'all', records_per_minute: 2 })
  expect(await item(expression({ sex: { $eq: 'F' } }))).toMatchObject({ status: 'succ' })
  for (const uin of ['1', 'nobody']) {
    await later('1 hour')
    const { status, body } = await ask(byUin(uin))
    expect([status, body.message.search_response]).toMatchObject([
      200,
      [
        {
          status: 'rjct',
          status_reason_code: TOO_MANY,
          status_reason_message:
            'search_criteria: the rate of 2 records a minute that is granted to this participant is reached; ask again in 30 seconds',
        },
      ],
    ])
    const stored = await storedEntries(server.database.db)
    expect(stored.filter(({ entry }) => entry.correlation_id === body.message.correlation_id)).toMatchObject([
      { entry: { kind: 'answer', records: 0, outcomes: { [TOO_MANY]: 1 } }, persons: [{ role: 'asked' }] },
    ])
  }
  await later('-1 hour')
  expect(await item(expression({ UIN: { $exists: true } }))).toMatchObject({
    status: 'rjct',
    status_reason_code: TOO_MANY,
    status_reason_message:
      'search_criteria: at most 2 records a minute are granted to this participant, and these are more at once; ask for fewer',
  })
})

it('counts what is refused, alone and in a batch, by participant and registry', async () => {
  const counts = async () => {
    const { text } = await server.context.metrics.render()
    const lines = text.matchAll(
      /^rollcall_grant_rate_refusals_total\{participant="([^"]*)",registry="civil",counted="(\w+)"\} (\d+)$/gm,
    )
    const own = [...lines].filter(([, participant]) => participant === peer.sender_id)
    return Object.fromEntries(own.map(([, , counted = '', count]) => [counted, Number(count)]))
  }
  const before = await counts()
  await granted({ query_forms: 'all', ask: 'all', items_per_minute: 2 })
  expect(await item(expression({ UIN: { $in: ['1', '2'] } }))).toMatchObject({ status: 'succ' })
  await later('1 hour')
  expect((await ask(byUin('1'))).status).toBe(429)
  await postSearch(server, peer, [{ search_criteria: byUin('1') }, { search_criteria: byUin('2') }])
  expect((await counts()).items).toBe((before.items ?? 0) + 3)
  await granted({ query_forms: 'all', ask: 'all', records_per_minute: 1 })
  expect(await item(byUin('1'))).toMatchObject({ status: 'succ' })
  await later('1 hour')
  expect(await item(byUin('1'))).toMatchObject({ status: 'rjct' })
  expect((await counts()).records).toBe((before.records ?? 0) + 1)
})
