import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { createDatabaseTrouble } from './database-trouble.ts'

function declined(code: string): DatabaseError {
  const error = new DatabaseError('a text that may quote a record', 1, 'error')
  error.code = code
  return error
}

test('a thousand requests that the database declines are one line, and one a second as long as it goes on', () => {
  const lines: object[] = []
  const due: (() => void)[] = []
  const trouble = createDatabaseTrouble({
    log: { error: (line: object) => void lines.push(line) },
    schedule: (work, milliseconds) => {
      expect(milliseconds).toBe(1_000)
      due.push(work)
    },
  })
  for (let request = 0; request < 1_000; request += 1) trouble.note(declined('53100'))
  const database = { error: 'DatabaseError', sqlstate: '53100' }
  expect(lines).toEqual([{ database, requests: 1 }])
  for (const work of due.splice(0)) work()
  expect(lines.slice(1)).toEqual([{ database, requests: 999 }])
})

test.each([
  ['53100', true],
  ['25006', true],
  ['53300', false],
  ['57P01', false],
])('%s for what is written: %s', (code, expected) => {
  let now = 0
  const trouble = createDatabaseTrouble({ log: { error: () => undefined }, now: () => now })
  expect(trouble.declinesWrites()).toBe(false)
  trouble.note(declined(code))
  now = 9_999
  expect(trouble.declinesWrites()).toBe(expected)
  now = 10_000
  expect(trouble.declinesWrites()).toBe(false)
})
