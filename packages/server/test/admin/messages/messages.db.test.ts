import { AdminRefusal } from '@rollcall/admin/admin-function'
import { listMessages } from '@rollcall/admin/messages/messages'
import { validator } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { auditEntry, testAuditLog } from '../../../../settings/test/audit-log.ts'
import { accepted, answerExchange, asyncPeer, byIdentifier, searchFor } from '../../asynchronous.ts'
import { ADA } from '../../civil.ts'
import { bearer, post, type TestServer, testServer } from '../../server.ts'

let server: TestServer
const list = (input: object = {}) => listMessages(acting(server.database), input)
const kinds = async (input: object) => (await list(input)).messages.map(({ kind, outcome }) => `${kind} ${outcome}`)
const ids: { sync: string; async: string; correlation: string } = { sync: '', async: '', correlation: '' }

beforeAll(async () => {
  server = await testServer()
  await server.registry('civil', [ADA])
  const peer = await asyncPeer(server, 'peer.example')
  const now = searchFor(peer, [byIdentifier('UIN', '0012'), byIdentifier('UIN', '0012', { sort: 7 })], {
    message: { transaction_id: 'tx-now' },
  })
  ids.sync = now.header.message_id
  await post(`${server.url}/civil/v1.0.0/registry/sync/search`, now, bearer(peer))
  const later = searchFor(peer, [{ ...byIdentifier('UIN', '0012'), reference_id: 'ref-later' }], {
    message: { transaction_id: 'tx-later' },
  })
  ids.async = later.header.message_id
  ids.correlation = await accepted(server, peer, later)
  await answerExchange(server, ids.correlation)
})
afterAll(() => server.close())

test('the newest first, without whom they are about', async () => {
  const listed = await list()
  expect(validator(listMessages.result).problem(listed, '')).toBeNull()
  expect(await kinds({})).toEqual(['callback succeeded', 'acknowledgement accepted', 'answer partial'])
  expect(listed.next).toBeNull()
  expect(listed.messages.at(-1)).toMatchObject({
    message_id: ids.sync,
    participant: 'peer.example',
    registry: 'civil',
    operation: 'search',
    transaction_id: 'tx-now',
    outcomes: { succ: 1, 'rjct.sort.invalid': 1 },
    records: 1,
  })
  expect(JSON.stringify(listed)).not.toContain('SECRET')
})

test('what was to be delivered is said with the state of its delivery', async () => {
  const stateOf = async () => (await list()).messages.map(({ delivery }) => delivery)
  await expect.poll(stateOf).toEqual(['delivered', null, null])
  const { pool } = server.database.db
  await pool.query("update delivery set state = 'dead', finished_at = now(), next_attempt_at = null")
  expect(await stateOf()).toEqual(['dead', null, null])
})

test('by each of their ids, and by what they are', async () => {
  const both = ['callback succeeded', 'acknowledgement accepted']
  expect(await kinds({ message_id: ids.sync })).toEqual(['answer partial'])
  expect(await kinds({ message_id: ids.async })).toEqual(both)
  expect(await kinds({ transaction_id: 'tx-later' })).toEqual(both)
  expect(await kinds({ correlation_id: ids.correlation })).toEqual(both)
  expect(await kinds({ reference_id: 'ref-later' })).toEqual(both)
  const [callback] = (await list({ reference_id: 'ref-later' })).messages
  expect(await kinds({ message_id: callback?.message_id ?? '' })).toEqual(both)
  expect(await kinds({ message_id: 'unknown' })).toEqual([])
  expect(await kinds({ correlation_id: 'no uuid' })).toEqual([])
  expect(await kinds({ transaction_id: '\u0000' })).toEqual([])
  expect(await kinds({ outcome: 'partial' })).toEqual(['answer partial'])
  expect(await kinds({ outcome: 'rejected' })).toEqual([])
  expect(await kinds({ operation: 'search', participant: 'peer.example', namespace: 'civil' })).toHaveLength(3)
  expect(await kinds({ operation: 'subscribe' })).toEqual([])
  expect(await kinds({ participant: 'other.example' })).toEqual([])
  expect(await kinds({ since: '2999-01-01T00:00:00Z' })).toEqual([])
  expect(await kinds({ until: '2001-01-01T00:00:00Z' })).toEqual([])
})

test.each([{ until: '9999-12-31T23:59:59Z' }, { until: '9999-12-31T23:59:59Z', operation: 'subscribe' }, {}])(
  'a time without messages is not looked through: %j',
  async (input) => {
    const query = vi.spyOn(server.database.db.pool, 'query')
    try {
      await list(input)
      // A span, and where the next one begins.
      expect(query.mock.calls.length).toBeLessThan(8)
    } finally {
      query.mockRestore()
    }
  },
)

test('a name is looked for as it is, whatever its characters', async () => {
  const names = ['odd"\\_%.example', 'odd"\\x%.example', 'odd%.example']
  const auditLog = testAuditLog(server.database.db)
  for (const participant of names) await auditLog.write(auditEntry({ participant }), [])
  await auditLog.close()
  for (const participant of names) {
    const { messages } = await list({ participant })
    expect(messages.map((message) => message.participant)).toEqual([participant])
  }
})

test('the newest are read in the order of an index', async () => {
  const { rows } = await server.database.db.pool.query<{ indexdef: string }>(
    "select indexdef from pg_indexes where indexname = 'account_newest_index'",
  )
  expect(rows).toEqual([{ indexdef: expect.stringContaining('USING btree (at)') }])
})

test('page by page every message is there once, whatever the size of a page', async () => {
  const auditLog = testAuditLog(server.database.db)
  await Promise.all(
    Array.from({ length: 20 }, (_, at) => auditLog.write(auditEntry({ participant: 'many.example', records: at }), [])),
  )
  await auditLog.close()
  for (const searched_entries of [undefined, 5]) {
    for (const limit of [1, 7, 20]) {
      const seen: number[] = []
      let before: string | undefined
      do {
        const page = await listMessages(acting(bounded(searched_entries)), { participant: 'many.example', limit, before })
        seen.push(...page.messages.map(({ records }) => records))
        before = page.next ?? undefined
      } while (before !== undefined)
      expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => at))
    }
  }
})

const bounded = (searched_entries: number | undefined) => ({
  ...server.database,
  ...(searched_entries !== undefined && { limits: { searched_entries } }),
})

test('a filter that finds nothing looks through so many entries and no more, and the next page goes on', async () => {
  const query = vi.spyOn(server.database.db.pool, 'query')
  const times: string[] = []
  try {
    let before: string | undefined
    do {
      query.mockClear()
      const page = await listMessages(acting(bounded(5)), { participant: 'nobody.example', before })
      // The statements: the start, the end, the rows, and whether there are more.
      expect(query.mock.calls.length).toBeLessThanOrEqual(4)
      expect([page.messages, page.next]).toEqual([[], page.searched_to])
      before = page.next ?? undefined
      if (before !== undefined) times.push(before)
    } while (before !== undefined)
  } finally {
    query.mockRestore()
  }
  expect(times.length).toBeGreaterThan(0)
  expect(times).toEqual([...new Set(times)].toSorted().toReversed())
  expect(await list({ participant: 'nobody.example' })).toEqual({ messages: [], next: null, searched_to: null })
})

describe('it is refused', () => {
  test.each([
    [
      { message_id: 'a', reference_id: 'b' },
      'reference_id: give one of message_id, transaction_id, correlation_id, reference_id at most',
    ],
    [{ before: 'x' }, 'before: must be that of an entry, a chain and a number with a dot between them'],
    [{ before: '3b241101-e2bb-4255-8caf-4136c566a962.1' }, 'before: the entry is not stored any more; begin with the first page'],
    [{ before: '2026-02-99T00:00:00.000Z' }, 'before: must be that of an entry, a chain and a number with a dot between them'],
    [{ limit: 501 }, 'limit: must be at most 500'],
    [{ outcome: 'refused' }, /^outcome: must be one of/],
  ])('%j', async (input, message) => {
    const refused = await list(input).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(AdminRefusal)
    expect((refused as AdminRefusal).message).toMatch(message)
  })
})
