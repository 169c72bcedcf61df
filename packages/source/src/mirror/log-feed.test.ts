/** A log that can no longer be followed in whole, although it gives no error. */

import { expect, test } from 'vitest'
import { kind } from '../../test/asking.ts'
import { LogLost } from '../engine/change-log.ts'
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

test('a table that leaves the log is found within an hour, and our place goes with it', async () => {
  let time = 0
  let problems: readonly string[] = []
  const done: string[] = []
  const changes = { due: new Map(), isEmptied: false, transactions: [], position: '0/1' }
  const reader = {
    wait: async () => undefined,
    take: () => changes,
    acknowledge: () => undefined,
    close: async () => void done.push('closed'),
  }
  const log = {
    problems: async () => problems,
    state: async () => ({ isKept: true, isLost: false, end: '0/1', size: 0 }),
    read: async () => reader,
    isBefore: () => false,
    drop: async () => void done.push('dropped'),
  }
  const engine = { log: () => log, failureOf: () => null }
  const feed = createLogFeed({ registry, file, engine, now: () => new Date(time) } as never)
  const next = () => feed.next({ log: '0/0' }, 0, new AbortController().signal)
  await next()
  problems = ['office.person is not published', 'another']
  time = HOUR - 1
  expect(await next()).toMatchObject({ isIncomplete: false })
  expect(done).toEqual([])
  time = HOUR
  await expect(next()).rejects.toEqual(new SourceRefusal('office.person is not published; another'))
  expect(done).toEqual(['closed', 'dropped'])
  await expect(next(), 'as long as it is so').rejects.toBeInstanceOf(SourceRefusal)
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
