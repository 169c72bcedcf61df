import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { testClock } from '../test/clock.ts'
import { createDatabaseHealth } from './health.ts'

function declined(code: string): DatabaseError {
  const error = new DatabaseError('a text that may quote a record', 1, 'error')
  error.code = code
  return error
}

const asked = { read: async () => undefined, write: async () => undefined }

test('a thousand requests that the database declines are one line, and one a second as long as it goes on', () => {
  const lines: object[] = []
  const clock = testClock()
  const health = createDatabaseHealth({ log: { error: (line: object) => void lines.push(line) }, ...asked }, clock)
  for (let request = 0; request < 1_000; request += 1) health.failed(declined('53100'))
  const database = { error: 'DatabaseError', sqlstate: '53100' }
  clock.pass(999)
  expect(lines).toEqual([{ database, requests: 1 }])
  clock.pass(1)
  expect(lines.slice(1)).toEqual([{ database, requests: 999 }])
})

test.each([
  ['53100', 'open', 'probing'],
  ['25006', 'open', 'probing'],
  ['53300', 'closed', 'closed'],
  ['57P01', 'closed', 'closed'],
])('after %s the breaker is %s, and then %s', (code, first, then) => {
  const clock = testClock()
  const health = createDatabaseHealth({ log: { error: () => undefined }, ...asked }, clock)
  expect(health.breaker()).toBe('closed')
  health.failed(declined(code))
  clock.pass(9_999)
  expect(health.breaker()).toBe(first)
  clock.pass(1)
  expect(health.breaker()).toBe(then)
})

test('a probe that writes does not close the breaker that another refused write has opened meanwhile', async () => {
  const clock = testClock()
  let written = Promise.withResolvers<void>()
  const deps = { log: { error: () => undefined }, ...asked, write: () => written.promise }
  const health = createDatabaseHealth(deps, clock)
  health.failed(declined('53100'))
  clock.pass(10_000)
  const probed = health.isReady()
  clock.pass(1)
  health.failed(declined('53100'))
  written.resolve()
  expect(await probed).toBe(false)
  expect(health.breaker()).toBe('open')
  clock.pass(9_999)
  expect(health.breaker()).toBe('open')
  clock.pass(1)
  written = Promise.withResolvers()
  written.resolve()
  expect(await health.isReady()).toBe(true)
  expect(health.breaker()).toBe('closed')
})
