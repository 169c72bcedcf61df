import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findNonPublicNetwork } from './address-rules.ts'

const networkOf = (address: string) => findNonPublicNetwork(address)?.network ?? 'public'

describe('IPv4', () => {
  test.each([
    ['0.0.0.0', 'unspecified'],
    ['0.255.255.255', 'unspecified'],
    ['1.0.0.0', 'public'],
    ['9.255.255.255', 'public'],
    ['10.0.0.0', 'private'],
    ['10.255.255.255', 'private'],
    ['11.0.0.0', 'public'],
    ['100.63.255.255', 'public'],
    ['100.64.0.0', 'shared (CGNAT)'],
    ['100.100.100.200', 'cloud metadata'],
    ['100.127.255.255', 'shared (CGNAT)'],
    ['100.128.0.0', 'public'],
    ['126.255.255.255', 'public'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.255', 'loopback'],
    ['128.0.0.0', 'public'],
    ['168.63.129.16', 'cloud metadata'],
    ['169.253.255.255', 'public'],
    ['169.254.0.0', 'link-local'],
    ['169.254.169.254', 'cloud metadata'],
    ['169.254.170.2', 'cloud metadata'],
    ['169.255.0.0', 'public'],
    ['172.15.255.255', 'public'],
    ['172.16.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.0', 'public'],
    ['192.0.0.8', 'protocol assignments'],
    ['192.0.0.192', 'cloud metadata'],
    ['192.0.1.0', 'public'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', 'protocol assignments'],
    ['192.167.255.255', 'public'],
    ['192.168.0.0', 'private'],
    ['192.168.255.255', 'private'],
    ['192.169.0.0', 'public'],
    ['198.17.255.255', 'public'],
    ['198.18.0.0', 'benchmark'],
    ['198.19.255.255', 'benchmark'],
    ['198.20.0.0', 'public'],
    ['198.51.100.7', 'documentation'],
    ['203.0.113.7', 'documentation'],
    ['223.255.255.255', 'public'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.0', 'reserved'],
    ['255.255.255.254', 'reserved'],
    ['255.255.255.255', 'broadcast'],
  ])('%s is %s', (address, network) => expect(networkOf(address)).toBe(network))
})

describe('IPv6', () => {
  test.each([
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['::2', 'IPv4-compatible'],
    ['::8.8.8.8', 'IPv4-compatible'],
    ['::127.0.0.1', 'IPv4-compatible'],
    ['::ffff:8.8.8.8', 'public'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['0000:0000:0000:0000:0000:FFFF:0A00:0001', 'private'],
    ['::ffff:169.254.169.254', 'cloud metadata'],
    ['::ffff:0:0', 'unspecified'],
    ['64:ff9b::', 'unspecified'],
    ['64:ff9b::8.8.8.8', 'public'],
    ['64:ff9b::10.0.0.1', 'private'],
    ['64:ff9b::a9fe:a9fe', 'cloud metadata'],
    ['64:ff9b:1::8.8.8.8', 'local NAT64'],
    ['100::1', 'reserved'],
    ['2000::1', 'public'],
    ['2001::1', 'Teredo'],
    ['2001:2::1', 'protocol assignments'],
    ['2001:1ff::1', 'protocol assignments'],
    ['2001:200::1', 'public'],
    ['2001:db8::1', 'documentation'],
    ['2001:4860:4860::8888', 'public'],
    ['2002:7f00:1::', '6to4'],
    ['2002:808:808::1', '6to4'],
    ['2606:4700:4700::1111', 'public'],
    ['3fff::1', 'documentation'],
    ['3fff:1000::1', 'public'],
    ['4000::1', 'reserved'],
    ['5f00::1', 'reserved'],
    ['fc00::1', 'private'],
    ['fd12:3456::1', 'private'],
    ['fd00:ec2::254', 'cloud metadata'],
    ['fd00:0ec2:0::23', 'cloud metadata'],
    ['fd20:ce::254', 'cloud metadata'],
    ['fe00::1', 'reserved'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'scoped'],
    ['2606:4700::1%lo', 'scoped'],
    ['febf::1', 'link-local'],
    ['fec0::1', 'site-local'],
    ['ff02::1', 'multicast'],
  ])('%s is %s', (address, network) => expect(networkOf(address)).toBe(network))
})

test.each(['', 'localhost', '0x7f.1', '127.1', '2130706433', '017700000001', '127.0.0.1:80', '[::1]', '1.2.3.4 '])(
  '%j is no address',
  (text) => expect(networkOf(text)).toBe('no address'),
)

test('an IPv4 address is judged alike by itself, mapped and behind NAT64', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      expect(findNonPublicNetwork(`::ffff:${address}`)).toEqual(findNonPublicNetwork(address))
      expect(findNonPublicNetwork(`64:ff9b::${address}`)).toEqual(findNonPublicNetwork(address))
    }),
    { numRuns: 500 },
  )
})

test('nothing but loopback and private networks can ever be allowed', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
      const special = findNonPublicNetwork(address)
      const allowable = ['loopback', 'private', 'shared (CGNAT)'].includes(special?.network ?? '')
      expect((special?.allowedBy ?? null) !== null).toBe(allowable)
    }),
    { numRuns: 500 },
  )
})
