/** A log that can no longer be followed in whole, although it gives no error. */

import { expect, test } from 'vitest'
import { kind } from '../../test/asking.ts'
import { LogLost, type LogProblem, makeLossProblem } from '../engine/change-log.ts'
import { SourceRefusal } from '../engine/source-refusal.ts'
import { readSourceFile } from '../source-file.ts'
import { createLogFeed } from './log-feed.ts'

const registry = { namespace: 'civil' }
const HOUR = 3_600_000

const file = readSourceFile(
  {
    engine: 'postgresql',
    url: { env: 'OFFICE' },
    way: 'mirror',
    follow: 'logical',
    records: { Person: { from: 'office.person', key: 'no', columns: { 'identifier[UIN]': 'uin' } } },
  },
  kind,
)

/** A feed whose log has no changes; an hour of its time is `HOUR`. */
function quietFeed() {
  const state = { time: 0, problems: [] as readonly LogProblem[] }
  const done: string[] = []
  const warnings: object[] = []
  const changes = { due: new Map(), isEmptied: false, transactions: [], position: '0/1' }
  const reader = {
    wait: async () => undefined,
    take: () => changes,
    acknowledge: () => undefined,
    close: async () => void done.push('closed'),
  }
  const log = {
    problems: async () => state.problems,
    state: async () => ({ isKept: true, isLost: false, end: '0/1', size: 0 }),
    read: async () => reader,
    isBefore: () => false,
    drop: async () => void done.push('dropped'),
  }
  const engine = { log: () => log, failureOf: () => null }
  const now = () => new Date(state.time)
  const warn = (facts: object, message: string): void => void warnings.push({ ...facts, message })
  const feed = createLogFeed({ registry, file, engine, now, log: { warn } } as never)
  return { state, done, warnings, next: () => feed.next({ log: '0/0' }, 0, new AbortController().signal) }
}

const setting: LogProblem = { text: 'max_slot_wal_keep_size is -1', losesChanges: false }

test('a table that leaves the log is found within an hour, and our place goes with it', async () => {
  const { state, done, next } = quietFeed()
  await next()
  state.problems = [
    setting,
    makeLossProblem('office.person is not published'),
    makeLossProblem('another'),
    makeLossProblem('another'),
  ]
  state.time = HOUR - 1
  expect(await next()).toMatchObject({ loss: null })
  expect(done).toEqual([])
  state.time = HOUR
  const refusal = 'max_slot_wal_keep_size is -1; office.person is not published; another'
  await expect(next()).rejects.toEqual(new SourceRefusal(refusal))
  expect(done).toEqual(['closed', 'dropped'])
  await expect(next(), 'as long as it is so').rejects.toBeInstanceOf(SourceRefusal)
})

test('a setting that loses no change is a line of the log, once an hour', async () => {
  const { state, done, warnings, next } = quietFeed()
  state.problems = [setting]
  const message = 'a source is followed, but its log is not as it should be'
  const warning = { registry: 'civil', problems: 'max_slot_wal_keep_size is -1', message }
  for (const [time, count] of [
    [0, 1],
    [HOUR - 1, 1],
    [HOUR, 2],
  ] as const) {
    state.time = time
    expect(await next()).toMatchObject({ loss: null, position: { log: '0/1' } })
    expect(warnings).toEqual(Array(count).fill(warning))
  }
  expect(done).toEqual([])
})

test.each([
  [{ isKept: false }, {}, 'the database does not have its log from our position on'],
  [{ size: 2 ** 40 }, {}, 'the database kept more of its log than logical.most_log allows'],
  [{}, { read: () => Promise.reject(new LogLost('unreadable')) }, 'unreadable'],
])('why changes are missing is told: %j', async (state, reading, loss) => {
  const log = {
    problems: async () => [],
    state: async () => ({ isKept: true, end: '0/1', size: 0, ...state }),
    begin: async () => '0/9',
    drop: async () => undefined,
    ...reading,
  }
  const feed = createLogFeed({
    registry,
    file: { ...file, mirror: { ...file.mirror, every: 1 } },
    engine: { log: () => log, failureOf: () => null },
    db: { pool: { query: async () => ({ rows: [{}] }) } },
    claim: { registry: 1, claim: 'a' },
    now: () => new Date(),
  } as never)
  const found = await feed.next({ log: '0/0' }, 0, new AbortController().signal)
  expect(found).toMatchObject({ loss, position: { log: '0/9' } })
})

test('a node that stops does not wait after the log was lost', async () => {
  const log = { state: () => Promise.reject(new LogLost('unreadable')) }
  const feed = createLogFeed({
    registry,
    file,
    engine: { log: () => log, failureOf: () => null },
    now: () => new Date(),
  } as never)
  await expect(feed.next({ log: '0/0' }, 0, AbortSignal.abort())).rejects.toThrow('(AbortError)')
})

test('a log that is reset while its last transaction is not seen yet is lost: a new place is made', async () => {
  const asked: string[] = []
  const reader = {
    wait: async () => undefined,
    take: () => ({ due: new Map([['Person', new Set(['1'])]]), isEmptied: false, transactions: [7], position: '0/7' }),
    close: async () => undefined,
  }
  const log = {
    problems: async () => [],
    state: async (position: string) => {
      asked.push(position)
      return { isKept: asked.length < 3, isLost: false, end: '0/1', size: 0 }
    },
    read: async () => reader,
    isVisible: async () => false,
    begin: async () => '0/9',
  }
  const db = { pool: { query: async () => ({ rows: [{}] }) } }
  const engine = { log: () => log, failureOf: () => null }
  const feed = createLogFeed({ registry, file, engine, db, claim: {}, now: () => new Date() } as never)
  expect(await feed.next({ log: '0/0' }, 0, new AbortController().signal)).toMatchObject({ position: { log: '0/9' } })
  expect(asked).toEqual(['0/0', '0/7', '0/7'])
})
