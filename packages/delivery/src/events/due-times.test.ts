import { nextScheduledRunOrEnd } from '@rollcall/core/events/frequency'
import { expect, test, vi } from 'vitest'
import { NotificationDueTimes } from './due-times.ts'

const [start_at, end_at] = [new Date('2026-06-01T00:00:00Z'), new Date('2026-07-01T00:00:00Z')]
const now = new Date('2026-06-15T09:00:00Z')

test('a frequency that many have is read once', () => {
  const next = vi.fn(nextScheduledRunOrEnd)
  const times = new NotificationDueTimes({ time_zone: 'UTC' }, now, next)
  const noon = { cron: '0 0 12 * * * *', start_at, end_at }
  for (let count = 0; count < 100; count += 1) {
    expect(times.next({ ...noon })).toEqual(new Date('2026-06-15T12:00:00Z'))
  }
  expect(times.next({ ...noon, cron: '0 0 13 * * * *' })).toEqual(new Date('2026-06-15T13:00:00Z'))
  expect(times.next({ ...noon, end_at: new Date('2026-06-15T10:00:00Z') })).toEqual(new Date('2026-06-15T10:00:00Z'))
  expect(next).toHaveBeenCalledTimes(3)
})

test('one whose end has come has no next tick', () => {
  expect(new NotificationDueTimes({ time_zone: 'UTC' }, end_at).next({ cron: '0 0 12 * * * *', start_at, end_at })).toBeNull()
})
