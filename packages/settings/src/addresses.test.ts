import { isLoopback } from '@rollcall/base/shared/loopback'
import { expect, test } from 'vitest'
import { allAddressesNote, baseUrl, isOperatorHost, listenerUrl } from './addresses.ts'
import { readConfig } from './config.ts'

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

test.each([
  ['ROLLCALL_PUBLIC_URL', 'https://registry.example.org/#civil', 'an http or https address without query and credentials'],
  ['ROLLCALL_PUBLIC_URL', 'https://:secret@registry.example.org', 'an http or https address without query and credentials'],
  ['PORT', ' ', 'a port, a whole number from 0 to 65535'],
  ['PORT', '0x50', 'a port, a whole number from 0 to 65535'],
])('%s=%s is refused', (variable, value, form) => {
  expect(() => readConfig({ [variable]: value })).toThrow(new Error(`${variable} must be ${form}`))
})

test('a listener on all addresses says so', () => {
  expect(allAddressesNote('HOST', '127.0.0.1')).toBe('')
  expect(allAddressesNote('HOST', '0.0.0.0')).toBe(' (HOST 0.0.0.0: at every address of this machine)')
  expect(allAddressesNote('ADMIN_HOST', '::')).toBe(' (ADMIN_HOST ::: at every address of this machine)')
})

const operator = { adminHost: '0.0.0.0', adminHosts: ['metrics.internal', 'fd00::7'] }

test.each([
  ['127.0.0.1:8081', '127.0.0.1'],
  ['localhost:9999', '10.1.2.3'],
  ['[::1]', '::1'],
  ['10.1.2.3:8081', '10.1.2.3'],
  ['10.1.2.3', '::ffff:10.1.2.3'],
  ['[fd00::1]:8081', 'fd00::1'],
  ['metrics.internal:8081', '10.1.2.3'],
  ['METRICS.internal', '10.1.2.3'],
  ['[fd00::7]', 'fd00::1'],
])('the operator’s listener is meant by Host %s on a connection to %s', (header, local) => {
  expect(isOperatorHost(operator, header, local)).toBe(true)
})

test.each([undefined, '', 'evil.example', 'metrics.internal.evil.example', '10.1.2.4', 'x@127.0.0.1:80@evil.example', 'a b'])(
  'it is not meant by Host %s',
  (header) => expect(isOperatorHost(operator, header, '10.1.2.3')).toBe(false),
)
