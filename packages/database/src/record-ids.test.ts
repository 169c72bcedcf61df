import { expect, test } from 'vitest'
import { toStoredIdArrays, toStoredRecordId } from './record-ids.ts'

test.each(['0', '7', '999999999999999999'])('%s is a number of our own tables', (id) => {
  expect(toStoredRecordId(id)).toEqual({ record: id, record_key: null })
})

test.each(['', '07', '-1', '1000000000000000000', 'UIN-7', '7 '])('%j is stored beside its digest', (id) => {
  const { record, record_key } = toStoredRecordId(id)
  expect(record_key).toBe(id)
  expect(BigInt(record)).toBeLessThan(0n)
})

test('numbers are an array of numbers, and all others one of texts', () => {
  expect(toStoredIdArrays(['1', '22'])).toEqual({ record_ids: '{1,22}', record_keys: null })
  expect(toStoredIdArrays(['1', 'a"b\\c'])).toEqual({ record_ids: '{}', record_keys: '{"1","a\\"b\\\\c"}' })
})
