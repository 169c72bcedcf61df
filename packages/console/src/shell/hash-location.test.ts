import { expect, it } from 'vitest'
import { pathOf, searchOf } from './hash-location.ts'

it.each([
  ['/', '/', ''],
  ['/messages/m-1', '/messages/m-1', ''],
  ['/messages?outcome=failed&before=12', '/messages', 'outcome=failed&before=12'],
  ['/messages?message_id=a%3Fb', '/messages', 'message_id=a%3Fb'],
])('%s is the path %s with the filter "%s"', (address, path, search) => {
  expect(pathOf(address)).toBe(path)
  expect(searchOf(address)).toBe(search)
})
