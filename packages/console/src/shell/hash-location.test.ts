import { expect, it } from 'vitest'
import { escapePercent, pathOfAddress, searchOfAddress } from './hash-location.ts'

it.each([
  ['/', '/', ''],
  ['/messages/m-1', '/messages/m-1', ''],
  ['/messages?outcome=failed&before=12', '/messages', 'outcome=failed&before=12'],
  ['/messages?message_id=a%3Fb', '/messages', 'message_id=a%3Fb'],
])('%s is the path %s with the filter "%s"', (address, path, search) => {
  expect(pathOfAddress(address)).toBe(path)
  expect(searchOfAddress(address)).toBe(search)
})

it.each(['urn:uuid:1', 'https://sp.example/a?b=c&d#e', '100%', '%2F', 'a%b', 'ü+;,@$'])(
  'an id comes through the router as it was: %s',
  (id) => {
    const written = encodeURIComponent(id)
    // The router decodes an address in this way.
    expect(decodeURI(escapePercent(written))).toBe(written)
    expect(new URLSearchParams(decodeURI(escapePercent(`id=${written}`))).get('id')).toBe(id)
  },
)
