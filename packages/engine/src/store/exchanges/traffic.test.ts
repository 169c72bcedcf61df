import { expect, test } from 'vitest'
import { sumTraffic, trafficDurations } from './traffic.ts'

test('half of all answers is not half of those of the slowest operation', () => {
  const row = { registry: 'civil', mode: 'synchronous', outcome: 'succeeded' } as const
  const rows = [
    { ...row, operation: 'search', step: 10, messages: 99 },
    { ...row, operation: 'subscribe', step: 60, messages: 1 },
  ]
  const [search, subscribe] = sumTraffic(rows)
  expect(trafficDurations(rows)).toEqual({ p50_ms: search?.p50_ms, p99_ms: search?.p99_ms })
  expect(subscribe?.p50_ms).toBeGreaterThan(search?.p50_ms ?? 0)
  expect(trafficDurations([])).toEqual({ p50_ms: null, p99_ms: null })
})
