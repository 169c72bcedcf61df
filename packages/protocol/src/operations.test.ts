import { describe, expect, it } from 'vitest'
import { CODES } from './codes.ts'
import { actionMeans, CALLBACKS, isKnownAction, OPERATIONS, operation, operationsOf } from './operations.ts'

/** The table of spec "Endpoints", row by row: path, action, message, and where an asynchronous result goes. */
const ENDPOINTS: [path: string, action: string, message: string, result: string][] = [
  ['/registry/search', 'search', 'SearchRequest', 'on-search'],
  ['/registry/on-search', 'on-search', 'SearchResponse', 'callback'],
  ['/registry/subscribe', 'subscribe', 'SubscribeRequest', 'on-subscribe'],
  ['/registry/on-subscribe', 'on-subscribe', 'SubscribeResponse', 'callback'],
  ['/registry/notify', 'notify', 'NotifyEventRequest', 'callback'],
  ['/registry/unsubscribe', 'unsubscribe', 'UnSubscribeRequest', 'on-unsubscribe'],
  ['/registry/on-unsubscribe', 'on-unsubscribe', 'UnSubscribeResponse', 'callback'],
  ['/registry/txn/status', 'txn-status', 'TxnStatusRequest', 'txn/on-status'],
  ['/registry/txn/on-status', 'txn-on-status', 'TxnStatusResponse', 'callback'],
  ['/registry/sync/search', 'search', 'SearchRequest', 'sync on-search SearchResponse'],
  ['/registry/sync/txn/status', 'txn-status', 'TxnStatusRequest', 'sync txn-on-status TxnStatusResponse'],
  ['/registry/enrollments/updates', 'notify', 'EnrollmentUpdatesRequest', 'sync notify EnrollmentUpdatesResponse'],
]

/** The table in the house's own words, to be compared with the spec's. */
function endpointAt(path: string): [string, string, string, string] | null {
  const relative = path.slice(1)
  const callback = CALLBACKS.find((row) => row.path === relative)
  if (callback) return [path, callback.action, callback.message.name, 'callback']
  const sync = OPERATIONS.find((row) => row.sync_paths.includes(relative))
  if (sync) return [path, sync.action, sync.request.name, `sync ${sync.reply_action} ${sync.reply.name}`]
  const async = OPERATIONS.find((row) => row.async_paths.includes(relative))
  if (!async?.callback) return null
  return [path, async.action, async.request.name, async.callback.path.slice('registry/'.length)]
}

describe('the table of operations', () => {
  it.each(ENDPOINTS)('says of %s what the spec says', (...row) => {
    expect(endpointAt(row[0])).toEqual(row)
  })

  it('has the enrolment and disability calls at their published paths (N9, N10, D8, D11, D31, 2.7)', () => {
    expect(Object.fromEntries(OPERATIONS.filter((o) => o.kinds === 'own').map((o) => [o.name, o.sync_paths]))).toEqual({
      'enrolment-updates': [
        'registry/enrollments/updates',
        'registry/sync/enrollment/updates',
        'registry/enrollment/updates',
        'registry/sync/enrollments/updates',
      ],
      enrolled: ['registry/sync/enrolled', 'ibr/sync/enrolled'],
      'enrolment-status': [
        'registry/sync/check-enrollment',
        'registry/check-enrollment',
        'ess/sync/check-enrollment',
        'sp/sync/check-enrollment',
        'sync/check-enrollment',
      ],
      disabled: ['registry/sync/disabled', 'registry/sync/get-disability-status'],
      'disability-details': ['registry/sync/get-disability-details', 'registry/sync/get-disability-info'],
      'disability-support': ['registry/sync/get-disability-support'],
    })
  })

  it('gives no path to two rows, and every path is relative', () => {
    const paths = [...OPERATIONS.flatMap((row) => [...row.sync_paths, ...row.async_paths]), ...CALLBACKS.map((row) => row.path)]
    expect(new Set(paths).size).toBe(paths.length)
    expect(paths.filter((path) => !/^[a-z][a-z/-]*[a-z]$/.test(path))).toEqual([])
  })

  it('gives no name to two rows', () => {
    const names = [...OPERATIONS, ...CALLBACKS].map((row) => row.name)
    expect(new Set(names).size).toBe(names.length)
  })

  it('gives every operation a path, and a callback exactly to those that are answered later', () => {
    for (const row of OPERATIONS) {
      expect(row.sync_paths.length + row.async_paths.length, row.name).toBeGreaterThan(0)
      expect(row.callback !== null, row.name).toBe(row.async_paths.length > 0)
      if (row.callback) {
        expect(CALLBACKS).toContain(row.callback)
        expect(row.callback.message.schema).toBe(row.reply.schema)
        expect(row.callback.action).toBe(row.reply_action)
      }
    }
  })

  it('names batch members that the schemas have', () => {
    const messages = [...OPERATIONS.flatMap((row) => [row.request, row.reply]), ...CALLBACKS.map((row) => row.message)]
    for (const { name, schema, items } of messages) {
      expect(schema, name).toHaveProperty('title', name)
      if (items) expect(schema, name).toHaveProperty(['properties', items, 'type'], 'array')
    }
  })

  it('counts the items of search, subscribe and notify, and of nothing else', () => {
    const counted = [...OPERATIONS.map((row) => row.request), ...CALLBACKS.map((row) => row.message)]
      .filter((row) => row.counted)
      .map((row) => row.items)
    expect(counted).toEqual(['search_request', 'subscribe_request', 'notify_event'])
  })

  it('takes item codes from tables that exist', () => {
    for (const { codes } of OPERATIONS) {
      if (codes) expect(CODES.some((row) => row.where === codes)).toBe(true)
    }
  })

  it('uses the callback header where N1 says so', () => {
    expect(CALLBACKS.filter((row) => row.header === 'callback').map((row) => row.name)).toEqual([
      'on-search',
      'txn-on-status',
      'notify',
    ])
  })
})

describe('actions', () => {
  it('resolves every action and every alias to its own row', () => {
    for (const row of [...OPERATIONS, ...CALLBACKS]) {
      for (const action of [row.action, ...row.action_aliases]) {
        expect(actionMeans(row, action), `${row.name} ${action}`).toBe(true)
        expect(isKnownAction(action)).toBe(true)
      }
    }
  })

  it.each([
    ['enrolment-status', 'enrollementstatus', true],
    ['enrolment-status', 'enrolmentstatus', true],
    ['txn-status', 'txn/status', true],
    ['enrolment-updates', 'register', true],
    ['search', 'on-search', false],
    ['search', 'subscribe', false],
    ['search', 'Search', false],
    ['search', '', false],
  ])('%s by action %j: %s', (name, action, means) => {
    expect(actionMeans(operation(name), action)).toBe(means)
  })

  it('knows an unknown action', () => {
    expect(isKnownAction('delete')).toBe(false)
    expect(isKnownAction('constructor')).toBe(false)
  })
})

describe('operation', () => {
  it('finds a row by name', () => {
    expect(operation('txn-status').callback?.path).toBe('registry/txn/on-status')
  })

  it('throws at a name that is not in the table', () => {
    expect(() => operation('notify-all')).toThrow(new RangeError('there is no operation notify-all'))
  })

  it('gives a kind the common operations and its own', () => {
    const common = ['search', 'subscribe', 'unsubscribe', 'txn-status']
    expect(operationsOf({ operations: [] }).map((row) => row.name)).toEqual(common)
    expect(operationsOf({ operations: ['enrolled'] }).map((row) => row.name)).toEqual([...common, 'enrolled'])
  })
})
