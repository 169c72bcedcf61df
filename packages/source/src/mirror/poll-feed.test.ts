import { expect, test } from 'vitest'
import type { ChangedRow, ChangesAsked } from '../engine/engine.ts'
import type { ChangeFeed } from './feed.ts'
import { pollFeed } from './poll-feed.ts'

/** A feed of a table that has these rows within the overlap, in their order. */
function feedOf(rows: () => readonly ChangedRow[]): ChangeFeed {
  const changes = async (_part: unknown, { after, limit }: ChangesAsked) => {
    const all = rows()
    const from = after === null ? 0 : all.findIndex(({ key }) => key === after.key) + 1
    return all.slice(from, from + limit)
  }
  const state = { mark: async () => '100', changes, end: async () => undefined }
  const own = { changed: 'changed' }
  const records = new Map([['Person', { recordType: { name: 'Person' }, own, children: [] }]])
  const deps = {
    engine: { begin: async () => state },
    file: { mirror: { overlap: 60 }, records },
    now: () => new Date(0),
  }
  return pollFeed(deps as unknown as Parameters<typeof pollFeed>[0])
}

async function look(feed: ChangeFeed): Promise<{ readonly keys: readonly string[]; readonly isIncomplete: boolean }> {
  const batch = await feed.next({ 'Person 0': '100' }, 0, new AbortController().signal)
  batch.committed()
  return { keys: batch.due.get('Person') ?? [], isIncomplete: batch.isIncomplete }
}

test('a row is read once, and again at each look where its time has whole seconds only', async () => {
  const rows = ['2026-11-28 10:00:00.123456+00', '2026-11-28 10:00:00.123', '90', '2026-11-28 10:00:00']
  const feed = feedOf(() => rows.map((mark, at) => ({ key: `${at}`, mark })))
  expect(await look(feed)).toEqual({ keys: ['0', '1', '2', '3'], isIncomplete: false })
  expect(await look(feed)).toEqual({ keys: ['3'], isIncomplete: false })
})

test('too many changes begin one comparison, and later changes are read one by one', async () => {
  const rows = Array.from({ length: 200_001 }, (_, at): ChangedRow => ({ key: `${at}`, mark: '90' }))
  const feed = feedOf(() => rows)
  expect(await look(feed)).toEqual({ keys: [], isIncomplete: true })
  rows.push({ key: 'later', mark: '91' })
  expect(await look(feed)).toEqual({ keys: ['later'], isIncomplete: false })
})
