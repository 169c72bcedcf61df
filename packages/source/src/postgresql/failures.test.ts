import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { failureOf } from './failures.ts'

test.each([
  ['57014', 'timeout'],
  ['53400', 'declined'],
  ['40P01', 'declined'],
  ['40001', 'declined'],
  ['55P03', 'declined'],
  ['53300', 'away'],
  ['57P03', 'away'],
  ['28P01', 'away'],
  ['22P05', 'value'],
  ['25006', 'changed'],
  ['55000', 'changed'],
  ['42P01', 'changed'],
  ['25001', 'statement'],
])('SQLSTATE %s is %s', (code, is) => {
  const error = Object.assign(new DatabaseError('', 0, 'error'), { code })
  expect(failureOf(error)).toEqual({ is, code })
})

test('who has stopped to wait found no database that is away', () => {
  expect(failureOf(new Error('Query read timeout'))).toMatchObject({ is: 'timeout' })
  expect(failureOf(new Error('Connection terminated unexpectedly'))).toMatchObject({ is: 'away' })
  expect(failureOf(new TypeError('a fault of ours'))).toBeNull()
})
