import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { addStoredHealthGauges, NO_STORED_HEALTH } from './stored-health.ts'

test('gauges whose rows do not come have no value, and keep back no other metric', async () => {
  const register = new Registry()
  const never = new Promise<never>(() => undefined)
  const stored = { ...NO_STORED_HEALTH, outbox: () => never, schema: async () => ({ ahead: 1 }) }
  addStoredHealthGauges(register, stored, { now: () => 0 })
  const samples = (await register.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(samples).toEqual(['rollcall_schema_versions_ahead 1'])
})
