import { expect, test } from 'vitest'
import type { ChangedRow, ChangeSelection } from '../engine/engine.ts'
import type { ChangeBatch, ChangeFeed } from './feed.ts'
import { createPollFeed } from './poll-feed.ts'

/** A feed of a table that has these rows within the overlap, in their order. */
function feedOf(
  rows: (asked: ChangeSelection) => readonly ChangedRow[],
  { now = () => 0, mark = () => '100' }: { readonly now?: () => number; readonly mark?: () => string } = {},
): ChangeFeed {
  const changes = async (_part: unknown, asked: ChangeSelection) => {
    const { after, limit } = asked
    const all = rows(asked)
    const from = after === null ? 0 : all.findIndex(({ key }) => key === after.key) + 1
    return all.slice(from, from + limit)
  }
  const state = { mark: async () => mark(), changes, end: async () => undefined }
  const own = { changed: 'changed' }
  const records = new Map([['Person', { recordType: { name: 'Person' }, own, children: [] }]])
  const deps = { engine: { begin: async () => state }, file: { mirror: { overlap: 60 }, records }, now: () => new Date(now()) }
  return createPollFeed(deps as unknown as Parameters<typeof createPollFeed>[0])
}

async function look(feed: ChangeFeed): Promise<{ readonly keys: readonly string[]; readonly loss: string | null }> {
  const { keys, loss } = await lookFrom(feed, { 'Person 0': '100' })
  return { keys, loss }
}

async function lookFrom(feed: ChangeFeed, from: ChangeBatch['position']) {
  const { due, loss, position, committed } = await feed.next(from, 0, new AbortController().signal)
  committed()
  return { keys: due.get('Person') ?? [], loss, position }
}

const PLACE_LOST = 'its column of changes went back, or has values of another sort'

test('a row is read once, and again at each look where its time has whole seconds only', async () => {
  const rows = ['2026-11-28 10:00:00.123456+00', '2026-11-28 10:00:00.123', '90', '2026-11-28 10:00:00']
  const feed = feedOf(() => rows.map((mark, at) => ({ key: `${at}`, mark })))
  expect(await look(feed)).toEqual({ keys: ['0', '1', '2', '3'], loss: null })
  expect(await look(feed)).toEqual({ keys: ['3'], loss: null })
})

test('too many changes begin one comparison, and later changes are read one by one', async () => {
  const rows = Array.from({ length: 200_001 }, (_, at): ChangedRow => ({ key: `${at}`, mark: '90' }))
  const feed = feedOf(() => rows)
  expect(await look(feed)).toEqual({ keys: [], loss: 'more than 200000 rows have changed since the last poll' })
  rows.push({ key: 'later', mark: '91' })
  expect(await look(feed)).toEqual({ keys: ['later'], loss: null })
})

test('looks between two looks at the whole overlap list a part of it, and the next whole one begins where the last one was', async () => {
  let time = 0
  const asked: string[] = []
  const rows = [{ key: 'a', mark: '99' }]
  const feed = feedOf(
    ({ since, overlap }) => {
      asked.push(`${since} - ${overlap}`)
      return rows.filter(({ mark }) => Number(mark) >= Number(since) - overlap)
    },
    { now: () => time * 1_000, mark: () => String(100 + time) },
  )
  const first = await lookFrom(feed, { 'Person 0': '90' })
  expect(first).toMatchObject({ keys: ['a'], position: { 'Person 0': '100' } })
  time = 2
  rows.push({ key: 'b', mark: '101' })
  const second = await lookFrom(feed, first.position)
  expect(second).toMatchObject({ keys: ['b'], position: { 'Person 0': '100' } })
  time = 4
  // The transaction of this row has been long.
  rows.push({ key: 'c', mark: '50' })
  expect(await lookFrom(feed, second.position)).toMatchObject({ keys: [], position: { 'Person 0': '100' } })
  time = 5
  expect(await lookFrom(feed, second.position)).toMatchObject({ keys: ['c'], position: { 'Person 0': '105' } })
  expect(asked).toEqual(['90 - 60', '100 - 6', '102 - 6', '100 - 60'])
})

test.each([
  ['less than the overlap', '70', { keys: ['a'], loss: null, position: { 'Person 0': '70' } }],
  ['more than the overlap', '30', { keys: [], loss: PLACE_LOST, position: { 'Person 0': '30' } }],
])('no change is lost when the clock of the source is set back by %s', async (_, mark, expected) => {
  const rows = [{ key: 'a', mark: String(Number(mark) + 0.5) }]
  const since = (asked: ChangeSelection) => rows.filter((one) => Number(one.mark) >= Number(asked.since) - asked.overlap)
  let now = 100
  const feed = feedOf(since, { mark: () => String(now) })
  expect(await lookFrom(feedOf(since, { mark: () => mark }), { 'Person 0': '100' })).toEqual(expected)
  // The same after a look with the clock as it was, within the time until the next whole look.
  expect(await lookFrom(feed, { 'Person 0': '100' })).toMatchObject({ position: { 'Person 0': '100' } })
  now = Number(mark)
  const next = await lookFrom(feed, { 'Person 0': '100' })
  // After a comparison, the position is that of the clock as it is now, and changes are found from there.
  expect(next.loss).toBe(expected.loss)
  rows.push({ key: 'b', mark: String(now + 1) })
  expect((await lookFrom(feed, next.position)).keys).toContain('b')
})

test('when the column of changes becomes a whole number or a time, one comparison begins', async () => {
  for (const [before, now] of [
    ['1764440000.123456', '1764440000123'],
    ['5000', '1764440000.123456'],
  ] as const) {
    const asked: string[] = []
    const changes = ({ since }: ChangeSelection) => {
      asked.push(since)
      return []
    }
    const feed = feedOf(changes, { mark: () => now })
    const position = { 'Person 0': now }
    expect(await lookFrom(feed, { 'Person 0': before })).toEqual({ keys: [], loss: PLACE_LOST, position })
    expect(await lookFrom(feed, position)).toEqual({ keys: [], loss: null, position })
    expect(asked).toEqual([now])
  }
})

test('no change is lost when the clock of our node is set back: the next look is at the whole overlap', async () => {
  let now = 1_000_000
  const asked: number[] = []
  const feed = feedOf(
    ({ overlap }) => {
      asked.push(overlap)
      return []
    },
    { now: () => now },
  )
  const first = await lookFrom(feed, { 'Person 0': '100' })
  now += 1_000
  await lookFrom(feed, first.position)
  now = 0
  await lookFrom(feed, first.position)
  expect(asked).toEqual([60, 6, 60])
})
