import { type AllowedHost, hostsByName } from '@rollcall/core/model/allowed-hosts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAddress } from './address-rules.ts'
import { AddressRefused } from './problems.ts'

const rulesWith = (...allowed: AllowedHost[]) => ({ ports: [443], allowed: hostsByName(allowed) })
const problemOf = (address: string, rules = rulesWith()): unknown => {
  try {
    return readAddress(address, rules).href
  } catch (error) {
    return error
  }
}

describe('accepts', () => {
  test.each([
    ['https://sp.example/callback', 'https://sp.example/callback'],
    ['https://SP.Example', 'https://sp.example/'],
    ['HTTPS://sp.example:443/a?b=c@d', 'https://sp.example/a?b=c@d'],
    ['https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example/'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2606:4700:4700::1111]/', 'https://[2606:4700:4700::1111]/'],
    ['https://sp.example/b/%2e%2e/a%20b', 'https://sp.example/a%20b'],
  ])('%s', (address, href) => expect(problemOf(address)).toBe(href))
})

const MESSAGES = {
  form: 'the address must be an absolute address of at most 2048 characters',
  spelling: 'the host and port must be written in their usual form',
  scheme: 'the address must be https',
  userinfo: 'the address must not hold a user name or password',
  fragment: 'the address must not have a fragment',
  port: 'the port is not one that requests may be sent to',
  network: 'the address must be reachable on the public network',
}

describe('refuses', () => {
  test.each<[string, keyof typeof MESSAGES]>([
    ['', 'form'],
    ['/callback', 'form'],
    ['sp.example', 'form'],
    ['https://', 'form'],
    ['https://[::1', 'form'],
    ['https://1.2.3.4.5/', 'form'],
    ['https://256.1.1.1/', 'form'],
    ['https://sp.example:99999/', 'form'],
    ['https://[fe80::1%25eth0]/', 'form'],
    [`https://sp.example/${'a'.repeat(2048)}`, 'form'],
    ['http://sp.example/', 'scheme'],
    ['ftp://sp.example/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['data:text/plain,a', 'scheme'],
    ['blob:https://sp.example/1', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['ws://sp.example/', 'scheme'],
    ['https://user@sp.example/', 'userinfo'],
    ['https://user:password@sp.example/', 'userinfo'],
    ['https://@sp.example/', 'userinfo'],
    ['https://sp.example:443@other.example/', 'userinfo'],
    ['https://sp.example/#a', 'fragment'],
    ['https://sp.example/#', 'fragment'],
    ['https:sp.example/', 'spelling'],
    ['https:/sp.example/', 'spelling'],
    ['https:///sp.example/', 'spelling'],
    ['https:\\\\sp.example\\', 'spelling'],
    ['https://other.example\\.sp.example/', 'spelling'],
    [' https://sp.example/', 'spelling'],
    ['https://sp.exa\tmple/', 'spelling'],
    ['https://sp.example/a\nb', 'spelling'],
    ['https://sp.example./', 'spelling'],
    ['https://sp.example:/', 'spelling'],
    ['https://sp.example:0443/', 'spelling'],
    ['https://sp%2eexample/', 'spelling'],
    ['https://b\u00fccher.example/', 'spelling'],
    ['https://\uff11\uff12\uff17.0.0.1/', 'spelling'],
    ['https://0x7f.0.0.1/', 'spelling'],
    ['https://0x8080808/', 'spelling'],
    ['https://134744072/', 'spelling'],
    ['https://010.8.8.8/', 'spelling'],
    ['https://8.8/', 'spelling'],
    ['https://8.8.8.8./', 'spelling'],
    ['https://[2606:4700:4700:0::1111]/', 'spelling'],
    ['https://[::ffff:8.8.8.8]/', 'spelling'],
    ['https://sp.example:8443/', 'port'],
    ['https://sp.example:22/', 'port'],
    ['https://sp.example:80/', 'port'],
    ['https://127.0.0.1/', 'network'],
    ['https://10.1.2.3/', 'network'],
    ['https://169.254.169.254/latest/meta-data', 'network'],
    ['https://0.0.0.0/', 'network'],
    ['https://[::1]/', 'network'],
    ['https://[::]/', 'network'],
    ['https://[::ffff:7f00:1]/', 'network'],
    ['https://[64:ff9b::7f00:1]/', 'network'],
    ['https://[2002:7f00:1::]/', 'network'],
    ['https://[fd00:ec2::254]/', 'network'],
  ])('%j by the rule %s', (address, rule) => {
    const problem = problemOf(address)
    expect(problem).toBeInstanceOf(AddressRefused)
    expect(problem).toMatchObject({ rule, message: MESSAGES[rule] })
  })
})

/** The spellings of an IPv4 address that some reader or other understands. */
const parts = (address: string) => address.split('.').map(Number) as [number, number, number, number]
const number = (address: string) => parts(address).reduce((whole, part) => whole * 256 + part, 0)
const SPELLINGS: Readonly<Record<string, (address: string) => string>> = {
  dotted: (address) => address,
  decimal: (address) => String(number(address)),
  hexadecimal: (address) => `0x${number(address).toString(16)}`,
  octal: (address) => `0${number(address).toString(8)}`,
  'dotted hexadecimal': (address) =>
    parts(address)
      .map((part) => `0x${part.toString(16)}`)
      .join('.'),
  'dotted octal': (address) =>
    parts(address)
      .map((part) => `0${part.toString(8)}`)
      .join('.'),
  'leading zeros': (address) =>
    parts(address)
      .map((part) => `00000${part.toString(8)}`)
      .join('.'),
  'two parts': (address) => `${parts(address)[0]}.${number(address) % 2 ** 24}`,
  'three parts': (address) => `${parts(address)[0]}.${parts(address)[1]}.${number(address) % 2 ** 16}`,
  'point at the end': (address) => `${address}.`,
  'percent signs': (address) => [...address].map((char) => `%${char.charCodeAt(0).toString(16)}`).join(''),
  'full width': (address) => address.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
  'other full stops': (address) => address.replaceAll('.', '\u3002'),
  circled: (address) => address.replace(/[1-9]/g, (digit) => String.fromCharCode(0x245f + Number(digit))),
  mapped: (address) => `[::ffff:${address}]`,
  'mapped in full': (address) => `[0:0:0:0:0:FFFF:${address}]`,
  compatible: (address) => `[::${address}]`,
  NAT64: (address) => `[64:ff9b::${address}]`,
  '6to4': (address) =>
    `[2002:${number(address)
      .toString(16)
      .padStart(8, '0')
      .replace(/(....)/, '$1:')}::1]`,
  Teredo: (address) =>
    `[2001:0:${number(address)
      .toString(16)
      .padStart(8, '0')
      .replace(/(....)/, '$1:')}::1]`,
}
const octet = fc.nat(255)
const inside = fc.oneof(
  fc.tuple(fc.constantFrom(0, 10, 127), octet, octet, octet),
  fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
  fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
  fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
)

test.each(Object.keys(SPELLINGS))('no address inside passes when it is spelt: %s', (name) => {
  fc.assert(
    fc.property(inside, (octets) => {
      const spelt = SPELLINGS[name]?.(octets.join('.')) ?? ''
      expect(problemOf(`https://${spelt}/`)).toBeInstanceOf(AddressRefused)
    }),
  )
})

test('a public address passes in its usual spelling only', () => {
  const spelling = fc.constantFrom(...Object.keys(SPELLINGS).filter((name) => name !== 'dotted'))
  fc.assert(
    fc.property(spelling, fc.integer({ min: 11, max: 99 }), octet, (name, first, second) => {
      const address = `${first}.${second}.77.99`
      expect(problemOf(`https://${address}/`)).toBe(`https://${address}/`)
      // NAT64 is how a network that speaks IPv6 alone spells it; hexadecimal groups are its usual form.
      const spelt = SPELLINGS[name]?.(address) ?? ''
      expect(problemOf(`https://${spelt}/`)).toBeInstanceOf(AddressRefused)
    }),
  )
})

describe('what an operator allows', () => {
  test.each<[AllowedHost, string]>([
    [{ host: 'sp.example', ports: [8443] }, 'https://sp.example:8443/'],
    [{ host: 'sp.example', ports: [80], plainHttp: true }, 'http://sp.example/'],
    [{ host: '10.1.2.3', private: true }, 'https://10.1.2.3/'],
    [{ host: '100.64.1.1', private: true }, 'https://100.64.1.1/'],
    [{ host: 'fd12::1', private: true }, 'https://[fd12::1]/'],
    [{ host: '127.0.0.1', loopback: true, plainHttp: true, ports: 'any' }, 'http://127.0.0.1:40123/cb'],
    [{ host: '::1', loopback: true, plainHttp: true, ports: [8080] }, 'http://[::1]:8080/cb'],
  ])('%j opens %s', (row, address) => expect(problemOf(address, rulesWith(row))).toBe(address))

  test.each<[AllowedHost, string, keyof typeof MESSAGES]>([
    [{ host: 'sp.example', plainHttp: true }, 'http://sp.example/', 'port'],
    [{ host: 'sp.example', ports: [8443] }, 'https://sp.example/', 'port'],
    [{ host: 'sp.example', ports: [8443] }, 'https://www.sp.example:8443/', 'port'],
    [{ host: 'sp.example', ports: [80], plainHttp: true }, 'http://www.sp.example/', 'scheme'],
    [{ host: 'sp.example', ports: 'any', plainHttp: true }, 'ftp://sp.example/', 'scheme'],
    [{ host: '10.1.2.3', private: true }, 'https://10.1.2.4/', 'network'],
    [{ host: '10.1.2.3', loopback: true }, 'https://10.1.2.3/', 'network'],
    [{ host: '127.0.0.1', private: true }, 'https://127.0.0.1/', 'network'],
    [{ host: '127.0.0.1', loopback: true }, 'https://127.1/', 'spelling'],
    [{ host: '169.254.169.254', private: true, loopback: true }, 'https://169.254.169.254/', 'network'],
    [{ host: '100.100.100.200', private: true, loopback: true }, 'https://100.100.100.200/', 'network'],
    [{ host: 'fe80::1', private: true, loopback: true }, 'https://[fe80::1]/', 'network'],
    [{ host: '224.0.0.1', private: true, loopback: true }, 'https://224.0.0.1/', 'network'],
  ])('%j does not open %s', (row, address, rule) => {
    expect(problemOf(address, rulesWith(row))).toMatchObject({ name: 'AddressRefused', rule, message: MESSAGES[rule] })
  })

  test.each([
    '',
    'SP.example',
    'sp.example:8443',
    '127.1',
    '[::1]',
    '0:0::1',
    '*.sp.example',
    'sp.example.',
    'https://sp.example',
    'a b',
  ])('%j is no host to allow', (host) => {
    expect(() => hostsByName([{ host }])).toThrow(
      new TypeError('an allowed host must be written as in an address, in lower case, and IPv6 without brackets'),
    )
  })

  test('a host has one row', () => {
    const twice = [{ host: 'sp.example' }, { host: 'sp.example', plainHttp: true }]
    expect(() => hostsByName(twice)).toThrow(new TypeError('an allowed host must have one row'))
  })
})
