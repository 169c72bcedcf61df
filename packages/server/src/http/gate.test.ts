import type { IncomingMessage } from 'node:http'
import { OtherEnvironmentFault } from '@rollcall/engine/exchange/admit'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { clientAddressKey, clientAddressReader, createRequestGate } from './request-gate.ts'

const from = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }) as Pick<
    IncomingMessage,
    'socket' | 'headers'
  >

describe('without a proxy', () => {
  const read = clientAddressReader({ behindProxy: false, proxies: [] })
  it('X-Forwarded-For is not read', () => {
    expect(read(from('127.0.0.1', '203.0.113.7'))).toBe('127.0.0.1')
    expect(read(from('::ffff:198.51.100.4', '203.0.113.7'))).toBe('198.51.100.4')
  })
})

describe('behind a proxy', () => {
  const read = clientAddressReader({ behindProxy: true, proxies: [] })
  it.each([
    ['127.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['10.0.0.1', 'evil, 203.0.113.7', '203.0.113.7'],
    ['10.0.0.1', '1.1.1.1, 203.0.113.7, 192.168.0.3', '203.0.113.7'],
    ['::1', '[2001:db8::7]:4711', '2001:db8::7'],
    ['127.0.0.1', '203.0.113.7:4711', '203.0.113.7'],
    ['127.0.0.1', '203.0.113.7, not an address', '127.0.0.1'],
    ['127.0.0.1', '', '127.0.0.1'],
    ['127.0.0.1', undefined, '127.0.0.1'],
    ['198.51.100.4', '203.0.113.7', '198.51.100.4'],
  ])('a connection from %s with %s comes from %s', (remote, forwarded, address) => {
    expect(read(from(remote, forwarded))).toBe(address)
  })

  it('where proxies are named, no other is believed', () => {
    const named = clientAddressReader({ behindProxy: true, proxies: ['198.51.100.0/24'] })
    expect(named(from('198.51.100.4', '203.0.113.7'))).toBe('203.0.113.7')
    expect(named(from('10.0.0.1', '203.0.113.7'))).toBe('10.0.0.1')
  })
})

test.each([
  ['198.51.100.4', '198.51.100.4'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
])('%s counts as %s', (address, unit) => {
  expect(clientAddressKey(address)).toBe(unit)
})

test('all addresses of a /64 are one client, in whatever spelling', () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const spelt = new URL(`http://[${address}]`).hostname.slice(1, -1)
      expect(clientAddressKey(spelt)).toBe(clientAddressKey(address))
    }),
  )
})

test.each([
  ['sandbox', 'sandbox_participant_at_live_registry'],
  ['live', 'live_participant_at_sandbox_registry'],
] as const)('why a %s participant is refused is for the log alone', (environment, reason) => {
  const noted: object[] = []
  const requestGate = createRequestGate({
    refusals: { note: (refusal) => noted.push(refusal), rejected: () => undefined, flush: async () => undefined },
    metrics: { requestRefused: () => undefined },
    failures: { wait: () => 0, fail: () => undefined },
    clientAddress: () => '198.51.100.4',
  })
  const fault = new OtherEnvironmentFault({ environment })
  expect(requestGate.faultToAnswer(from('198.51.100.4') as IncomingMessage, fault)).toBe(fault)
  expect(noted).toEqual([{ refusal: 'err.request.forbidden', participant: null, address: '198.51.100.4', reason }])
  expect(fault.message).not.toContain('sandbox')
})
