import { expect, test } from 'vitest'
import { failureOf } from './failures.ts'

test.each([
  [1969, '70100', 'timeout'],
  [3024, 'HY000', 'timeout'],
  [1040, '08004', 'away'],
  [1045, '28000', 'away'],
  [1049, '42000', 'away'],
  [1044, '42000', 'changed'],
  [1317, '70100', 'away'],
  [1205, 'HY000', 'declined'],
  [1146, '42S02', 'changed'],
  [1792, '25006', 'changed'],
  [1356, 'HY000', 'changed'],
  [1292, '22007', 'value'],
  [1105, 'HY000', 'statement'],
])('error %s is %s', (errno, sqlState, is) => {
  expect(failureOf(Object.assign(new Error(), { errno, sqlState, code: 'ER' }))).toEqual({ is, code: String(errno) })
})

test('who has stopped to wait found no database that is away', () => {
  const own = (code: string, fatal?: true) => failureOf(Object.assign(new Error(), { code, fatal }))
  expect(own('PROTOCOL_SEQUENCE_TIMEOUT')).toEqual({ is: 'timeout', code: 'PROTOCOL_SEQUENCE_TIMEOUT' })
  expect(own('PROTOCOL_CONNECTION_LOST', true)).toMatchObject({ is: 'away' })
  expect(own('ECONNREFUSED')).toMatchObject({ is: 'away' })
  expect(failureOf(new TypeError('a fault of ours'))).toBeNull()
})
