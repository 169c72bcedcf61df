import { KINDS, type NotifyData } from '@rollcall/protocol'
import { expect, expectTypeOf, it } from 'vitest'
import { notify, receiver, sent, signed } from '../../test/callbacks.ts'
import type { RecordOf } from '../client/records.ts'
import { EVENT_NAMES, type EventContext, type EventHandlers, onEvent } from './on-event.ts'

const timestamp = '2026-02-03T09:15:00Z'

const item = (reference_id: string, data: object) => ({
  reference_id,
  timestamp,
  data: { reg_record_type: 'Person', reg_records: { number: reference_id }, ...data },
})

/** Calls that each handler got, as `name number`, and their contexts. */
async function handledBy(names: readonly (keyof EventHandlers)[], events: readonly object[], meta?: object) {
  const calls: string[] = []
  const contexts: EventContext[] = []
  const handlers = Object.fromEntries(
    names.map((name) => [
      name,
      async (record: { readonly number?: unknown }, context: EventContext) => {
        calls.push(`${name} ${record.number}`)
        contexts.push(context)
      },
    ]),
  )
  const to = receiver({ handlers: { notify: onEvent(handlers) } })
  const envelope = notify({ header: { meta }, message: { notify_event: events } })
  const { status } = await sent(to, signed(envelope), { path: '/registry/notify' })
  return { status, calls, contexts }
}

it('the names are those of all kinds, and of the two that take an event back', () => {
  const names = KINDS.flatMap(({ event_types }) => event_types.map(({ name }) => name))
  expect([...EVENT_NAMES].toSorted()).toEqual([...new Set([...names, 'CANCEL', 'CORRECTION'])].toSorted())
})

it('each event goes to the handler of its type, in order, however the type is spelled', async () => {
  const events = [
    item('1', { reg_event_type: 'Death' }),
    item('2', { reg_event_type: 'ns:org:RegistryEventType:live_birth', reg_type: 'ns:org:RegistryType:Civil' }),
    item('3', { reg_event_type: 'DEATH' }),
    item('4', { reg_event_type: 'something_else' }),
    item('5', {}),
    item('6', { reg_event_type: 'x:CANCEL' }),
  ]
  const { status, calls, contexts } = await handledBy(['LiveBirth', 'Death', 'CANCEL', 'otherwise'], events)
  expect([status, calls]).toEqual([200, ['Death 1', 'LiveBirth 2', 'Death 3', 'otherwise 4', 'otherwise 5', 'CANCEL 6']])
  expect(contexts.map(({ event_type }) => event_type)).toEqual(['Death', 'LiveBirth', 'Death', 'something_else', null, 'CANCEL'])
})

it('what has no handler is acknowledged', async () => {
  expect(await handledBy(['Death'], [item('1', { reg_event_type: 'Marriage' })])).toMatchObject({ status: 200, calls: [] })
})

it('a handler gets what the header says of its item', async () => {
  const meta = {
    subscriptions: { 1: ['SUB-1', 'SUB-2'] },
    presence: { 1: { 'SUB-1': 'left', 'SUB-2': 'stayed' } },
    record_version: { 1: 7 },
    occurred_at: { 1: timestamp },
    recorded_at: { 1: timestamp },
    corrects: { 1: 'earlier' },
    replaced_by: { 1: { identifier_type: 'UIN', identifier_value: 'U-1' } },
    sequence: 3,
    backfill: true,
  }
  const { contexts } = await handledBy(['Death'], [item('1', { reg_event_type: 'Death' })], meta)
  expect(contexts).toMatchObject([
    {
      event_type: 'Death',
      record_type: 'Person',
      subscriptions: { 'SUB-1': 'left', 'SUB-2': 'stayed' },
      record_version: 7,
      occurred_at: timestamp,
      recorded_at: timestamp,
      corrects: 'earlier',
      replaced_by: { identifier_type: 'UIN', identifier_value: 'U-1' },
      test: false,
      backfill: true,
      notification: { name: 'notify', signed: true },
    },
  ])
})

it('a registry that says nothing leaves it empty', async () => {
  const { contexts } = await handledBy(['Death'], [item('1', { reg_event_type: 'Death' })])
  expect(contexts).toMatchObject([
    { subscriptions: {}, record_version: null, occurred_at: null, corrects: null, replaced_by: null, test: false },
  ])
})

it('what the header does not say of an item is not taken from the members of every object', async () => {
  const names = ['constructor', 'toString', 'coded']
  const events = names.map((name) => item(name, { reg_event_type: 'Death' }))
  const none = { record_version: {}, occurred_at: {}, recorded_at: {}, corrects: {}, replaced_by: {} }
  const meta = { subscriptions: { coded: ['valueOf'] }, presence: { coded: {} }, ...none, sequence: 1 }
  const { status, calls, contexts } = await handledBy(['Death'], events, meta)
  expect([status, calls]).toEqual([200, names.map((name) => `Death ${name}`)])
  const said = contexts.map((context) => {
    const { subscriptions, record_version, occurred_at, recorded_at, corrects, replaced_by } = context
    return [Object.entries(subscriptions), record_version, occurred_at, recorded_at, corrects, replaced_by]
  })
  const nothing = [null, null, null, null, null]
  expect(said).toEqual([
    [[], ...nothing],
    [[], ...nothing],
    [[['valueOf', 'entered']], ...nothing],
  ])
})

it('gives records the types of a kind, and leaves them open without one', () => {
  onEvent<'civil'>({
    Death: (record) => {
      const [person] = Array.isArray(record) ? record : [record]
      expectTypeOf(person).toEqualTypeOf<RecordOf<'civil'> | undefined>()
    },
  })
  onEvent({ Death: (record) => expectTypeOf(record).toEqualTypeOf<NotifyData['reg_records']>() })
})
