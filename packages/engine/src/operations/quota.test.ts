/** What the rejection by a quota says. How quotas are counted is tested in packages/server/test/engine/operations. */
import { expect, test } from 'vitest'
import { takeGrantQuota } from './quota.ts'

test('a quota that is used up at the end of its day is free again from the next midnight on', async () => {
  let now = Date.parse('2026-03-01T23:59:59.990Z')
  const take = async () => {
    now += 20
    return { of: 'day' }
  }
  const work = { deps: { clock: { date: () => now }, grantQuota: { take } } }
  await expect(takeGrantQuota(work as never, 'items', 1)).rejects.toMatchObject({
    name: 'ItemRejection',
    code: 'rjct.search.too_many_records_found',
    message: expect.stringMatching(/^search_criteria: the daily quota of items .* is free again from 2026-03-02T00:00:00Z on$/),
  })
})
