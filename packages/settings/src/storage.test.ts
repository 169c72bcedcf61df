import { expect, test } from 'vitest'
import { describeDatabase } from './storage.ts'

test.each([
  ['postgres://me:hidden@db.example:6543/rollcall', 'the database rollcall on db.example:6543'],
  ['postgres://me:hidden@db.example/rollcall?port=6000', 'the database rollcall on db.example:6000'],
  ['postgresql://me@db.example:5432', 'the database me on db.example:5432'],
  ['postgres://me:hidden@[::1]:5432/rollcall', 'the database rollcall on [::1]:5432'],
  [
    'postgres://me:hidden@/rollcall?host=/run/postgresql&port=5432',
    'the database rollcall on the socket in /run/postgresql, port 5432',
  ],
])('%s is named without its secrets', (databaseUrl, name) => {
  expect(describeDatabase({ databaseUrl, dataDirectory: '/data' })).toBe(name)
})

test('the embedded database is named by its folder', () => {
  const name = describeDatabase({ databaseUrl: undefined, dataDirectory: '/data' })
  expect(name).toBe('the embedded database in /data')
})
