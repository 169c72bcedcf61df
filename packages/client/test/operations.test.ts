/** Every row of the operations table has its method, which sends what the row says. */
import { CALLBACKS, OPERATIONS, RequestHeader, validator } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import type { Messages, OperationName } from '../src/client/messages.ts'
import { type CallbackName, identifier, type RegistryClient } from '../src/index.ts'
import { ack, finding, refusing } from './loopback.ts'
import { client, failure, registry } from './world.ts'

const person = { query: { person_identifier: { eq: '0012' } } }
const subscription = { reg_event_type: 'Death', filter: { type: 'UIN', value: '0012' }, notify_record_type: 'Person' }
const status = { attribute_type: 'correlation_id', attribute_value: 'c-1' } as const

/** A call of each operation, as an integrator writes it. */
const CALLS: {
  readonly [Name in OperationName]: {
    readonly now?: (asking: RegistryClient) => Promise<unknown>
    readonly later?: (asking: RegistryClient) => Promise<unknown>
  }
} = {
  search: {
    now: (asking) => asking.search(identifier('UIN', '0012')),
    later: (asking) => asking.searchAsync(identifier('UIN', '0012')),
  },
  subscribe: { later: (asking) => asking.subscribeAsync(subscription) },
  unsubscribe: { later: (asking) => asking.unsubscribeAsync(['S-1', 'S-2']) },
  'txn-status': { now: (asking) => asking.txnStatus(status), later: (asking) => asking.txnStatusAsync(status) },
  'enrolment-updates': { now: (asking) => asking.updateEnrolments([{ a: 1 }]) },
  enrolled: { now: (asking) => asking.enrolled({ person: '0012' }) },
  'enrolment-status': { now: (asking) => asking.checkEnrolment('0012') },
  disabled: { now: (asking) => asking.disabled('0012') },
  'disability-details': { now: (asking) => asking.disabilityDetails('0012') },
  'disability-support': { now: (asking) => asking.disabilitySupport('0012') },
}

const CALLBACK_NAMES: Record<CallbackName, true> = {
  'on-search': true,
  'on-subscribe': true,
  'on-unsubscribe': true,
  'txn-on-status': true,
  notify: true,
}

it('the names are those of the tables', () => {
  const rows = OPERATIONS.map(({ name, sync_paths, async_paths }) => [name, sync_paths.length > 0, async_paths.length > 0])
  const calls = Object.entries(CALLS).map(([name, { now, later }]) => [name, now !== undefined, later !== undefined])
  expect(calls).toEqual(rows)
  expect(Object.keys(CALLBACK_NAMES)).toEqual(CALLBACKS.map(({ name }) => name))
})

const headers = validator(RequestHeader)

describe.each(OPERATIONS.map((row) => [row.name, row] as const))('%s', (name, row) => {
  const { now, later } = CALLS[name as keyof Messages]
  const ways = [
    { path: row.sync_paths[0], call: now },
    { path: row.async_paths[0], call: later },
  ].filter(({ path }) => path !== undefined)

  it.each(ways)('is sent to $path in its documented shape', async ({ path, call }) => {
    const asking = await client([refusing(400, 'err.request.bad')])
    expect(await failure(call?.(asking) ?? Promise.resolve())).toMatchObject({ code: 'err.request.bad' })
    const [asked] = registry.asked
    expect(asked?.path).toBe(`/civil/v1.0.0/${path}`)
    expect(asked?.body.header.action).toBe(row.action)
    expect(headers.problem(asked?.body.header, 'header')).toBeNull()
    expect(validator(row.request.schema).problem(asked?.body.message, 'message')).toBeNull()
  })
})

describe('by name', () => {
  it('an operation is asked the same', async () => {
    const content = { search_request: [] }
    const asking = await client([finding([])])
    expect((await asking.ask('search', content)).message.search_response).toEqual([])
    const later = await client([ack()])
    expect((await later.askAsync('search', content)).correlation_id).toBe('c-1')
  })

  it('one that has no such path says so', async () => {
    const asking = await client([])
    expect(await failure(asking.ask('subscribe', { subscribe_request: [] }))).toEqual(
      new TypeError('subscribe has no synchronous path'),
    )
    expect(await failure(asking.askAsync('enrolled', { enrolled_criteria: person }))).toEqual(
      new TypeError('enrolled has no asynchronous path'),
    )
  })
})
