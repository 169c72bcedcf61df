/** Failures of our own database while a source is read: an operator must not look for them in the source. */

import { expect, test } from 'vitest'
import { kind } from '../../test/asking.ts'
import { SourceRefusal } from '../engine/source-refusal.ts'
import { readSourceFile } from '../source-file.ts'
import { applyRows } from './apply-rows.ts'
import { createLogFeed } from './log-feed.ts'
import { runInSnapshot } from './read-source.ts'

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
const records = file.records.get('Person') ?? expect.fail()
const own = new Error('our own database is away')
const theirs = new Error('connect ECONNREFUSED')
const db = { pool: { query: () => Promise.reject(own), connect: () => Promise.reject(own) } }
const registry = { id: 1, namespace: 'civil', kind }
const shared = { db, registry, file, claim: { registry: 1, claim: 'a' }, now: () => new Date() }
const failureOf = () => ({ is: 'away', code: 'ECONNREFUSED' })
const end = async (): Promise<void> => undefined

test('a failure of our own database within a snapshot stays as it is', async () => {
  const rows = async () => [{ key: '1', cells: ['A1'], children: [] }]
  const engine = { begin: async () => ({ rows, end }), failureOf }
  const due = { recordType: records.recordType, records, keys: ['1'], rows: null }
  const applying = { progress: {}, run: 0, began: null, isEvent: false }
  await expect(applyRows({ ...shared, engine } as never, due, applying)).rejects.toBe(own)
})

test('a failure of our own database before our place in the log is made stays as it is', async () => {
  const log = { problems: async () => [] }
  const feed = createLogFeed({ ...shared, engine: { log: () => log, failureOf } } as never)
  await expect(feed.begin(new AbortController().signal)).rejects.toBe(own)
})

test('a failure of our own database after the log was lost stays as it is', async () => {
  const log = { problems: async () => [], state: async () => ({ isKept: false, end: '0/0', size: 0 }) }
  const feed = createLogFeed({ ...shared, engine: { log: () => log, failureOf } } as never)
  await expect(feed.next({ log: '0/0' }, 0, new AbortController().signal)).rejects.toBe(own)
})

test('each failure of a snapshot is told as one of the source', async () => {
  const fails = () => Promise.reject(theirs)
  const begins = { begin: async () => ({ rows: fails, mark: fails, changes: fails, end }), failureOf }
  for (const [engine, work] of [
    [{ begin: fails, failureOf }, async () => undefined],
    [begins, (state) => state.rows(records, {} as never)],
    [begins, (state) => state.mark(records.own)],
    [begins, (state) => state.changes(records.own, {} as never)],
  ] as readonly [object, Parameters<typeof runInSnapshot>[1]][]) {
    const failure: unknown = await runInSnapshot({ engine, file: file as never } as never, work).catch(
      (caught: unknown) => caught,
    )
    expect(failure).toEqual(new SourceRefusal('there is no answer from a database at the address in OFFICE (ECONNREFUSED)'))
  }
})
