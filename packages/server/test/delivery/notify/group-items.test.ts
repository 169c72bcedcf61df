import type { NotificationPurpose } from '@rollcall/core/model/event'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { envelopeMarkingOf, groupIntoEnvelopes, planEnvelopeItems } from '../../../../delivery/src/notify/group-items.ts'
import type { WaitingNotification } from '../../../../delivery/src/store/events/waiting.ts'
import { waiting } from '../../notifications.ts'

const BOUNDS = { notify_items: 3, notify_bytes: 10_000 }
const planned = (list: readonly Partial<WaitingNotification>[], bounds = BOUNDS) =>
  planEnvelopeItems(
    list.map((changes, index) => waiting({ id: index + 1, ...changes })),
    bounds,
  ).map(({ event, notifications }) => [event, notifications.map(({ id }) => id)])

test('several subscriptions of one participant cause one item of one event', () => {
  expect(planned([{ event: 7 }, { event: 8 }, { event: 7 }])).toEqual([
    [7, [1, 3]],
    [8, [2]],
  ])
})

test('no more items than the participant takes', () => {
  expect(planned([1, 2, 3, 4, 3].map((event) => ({ event })))).toEqual([
    [1, [1]],
    [2, [2]],
    [3, [3]],
  ])
})

test('no more bytes than the participant takes; one that is larger goes alone', () => {
  const sizes = [4_000, 4_000, 4_000].map((bytes, event) => ({ bytes, event }))
  expect(planned(sizes)).toHaveLength(1)
  expect(planned(sizes, { ...BOUNDS, notify_bytes: 11_000 })).toHaveLength(2)
  expect(planned([{ bytes: 8_000_000 }, { event: 2 }])).toEqual([[1, [1]]])
})

test('a test, a backfill and what happened do not travel together', () => {
  const of = (...purposes: NotificationPurpose[]) => purposes.map((purpose, event) => ({ purpose, event }))
  expect(planned(of('event', 'correction', 'backfill'))).toHaveLength(2)
  expect(planned(of('test', 'event'))).toHaveLength(1)
  expect(planned(of('backfill', 'backfill'))).toHaveLength(2)
})

test('whatever waits, envelope after envelope tells all of it, in order and within the bounds', () => {
  const one = fc.record({
    event: fc.integer({ min: 1, max: 6 }),
    bytes: fc.constantFrom(10, 2_000, 9_000, 20_000),
    purpose: fc.constantFrom<NotificationPurpose>('event', 'correction', 'backfill', 'test'),
  })
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 40 }), (list) => {
      const all = list.map((changes, index) => waiting({ id: index + 1, ...changes }))
      const told: number[] = []
      for (const items of groupIntoEnvelopes(all, BOUNDS)) {
        expect(items.length).toBeGreaterThan(0)
        expect(items.length).toBeLessThanOrEqual(BOUNDS.notify_items)
        const bytes = items.reduce((sum, { notifications: [first] }) => sum + first.bytes, 0)
        expect(items.length === 1 || bytes <= BOUNDS.notify_bytes).toBe(true)
        const taken = items.flatMap(({ notifications }) => notifications)
        expect(new Set(taken.map(envelopeMarkingOf)).size).toBe(1)
        // Nothing passes what was before it.
        expect(taken.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(
          all.slice(told.length, told.length + taken.length).map(({ id }) => id),
        )
        told.push(...taken.map(({ id }) => id))
      }
      expect(new Set(told).size).toBe(list.length)
    }),
  )
})

test('whatever is held and whatever is not, the items of one record come in the order of its versions', () => {
  /** An event, the seconds at which it happens, and the runs until which each subscription that it matches holds it; 0: none. */
  const event = fc.record({
    record: fc.constantFrom('1', '2', '3'),
    record_type: fc.constantFrom('Person', 'Group'),
    purpose: fc.constantFrom<NotificationPurpose>('event', 'event', 'event', 'correction', 'backfill', 'test'),
    after: fc.integer({ min: 0, max: 20 }),
    runs: fc.array(fc.constantFrom(0, 0, 10, 60), { minLength: 1, maxLength: 4 }),
  })
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 9 }), (all, notify_items) => {
      let now = 0
      const written = all.flatMap(({ after, runs, ...changes }, at) => {
        now += after
        const happened = now
        return runs.map((run, nth) => ({
          due: run === 0 ? happened : Math.ceil((happened + 1) / run) * run,
          one: { ...changes, event: at + 1, record_version: at + 1, subscription: nth + 1 },
        }))
      })
      const due = written
        .map(({ due, one }, index) => ({ due, one: waiting({ id: index + 1, ...one }) }))
        .toSorted((one, other) => one.due - other.due)
        .map(({ one }) => one)
      const told = groupIntoEnvelopes(due, { ...BOUNDS, notify_items }).flat()
      expect(told.flatMap(({ notifications }) => notifications).toSorted((a, b) => a.id - b.id)).toEqual(
        due.toSorted((a, b) => a.id - b.id),
      )
      const versions = Map.groupBy(
        told.map(({ notifications: [first] }) => first),
        (one) => `${envelopeMarkingOf(one)} ${one.record_type} ${one.record}`,
      )
      for (const items of versions.values()) {
        const sent = items.map(({ record_version }) => record_version)
        expect(sent).toEqual(sent.toSorted((a, b) => a - b))
      }
    }),
  )
})
