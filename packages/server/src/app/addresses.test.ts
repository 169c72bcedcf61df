import { expect, test } from 'vitest'
import { baseUrl, isLoopback, listenerUrl } from './addresses.ts'

test.each(['127.0.0.1', '127.8.0.1', '::1', 'localhost', 'LOCALHOST.', '::ffff:127.0.0.1'])(
  '%s is reached by this machine only',
  (host) => expect(isLoopback(host)).toBe(true),
)

test.each(['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', 'localhost.example.org', '127.0.0.1.example.org', ''])(
  '%s is reached by others',
  (host) => expect(isLoopback(host)).toBe(false),
)

test('a listener has an address that a request can be sent to', () => {
  expect(listenerUrl('127.0.0.1', 80)).toBe('http://127.0.0.1:80')
  expect(listenerUrl('::1', 8080)).toBe('http://[::1]:8080')
  expect(listenerUrl('0.0.0.0', 8080)).toBe('http://127.0.0.1:8080')
  expect(listenerUrl('::', 8080)).toBe('http://[::1]:8080')
})

test('peers know the configured address, whatever is listened on', () => {
  const publicUrl = 'https://registry.example.org/rollcall'
  expect(baseUrl({ publicUrl, host: '127.0.0.1' }, 8080)).toBe(publicUrl)
  expect(baseUrl({ publicUrl: undefined, host: 'localhost' }, 8081)).toBe('http://localhost:8081')
})
