/** The rules for outgoing addresses: for an address as written, and for the IP addresses to which its name resolves. */
import { BlockList, isIP } from 'node:net'
import {
  type AllowableNetwork,
  type AllowedHost,
  hostWithoutBrackets,
  MAX_ADDRESS_LENGTH,
} from '@rollcall/core/model/allowed-hosts'
import { AddressRefused } from './problems.ts'

export interface AddressRules {
  /** The ports that are allowed at a host whose row in `allowed` has none. */
  readonly ports: readonly number[]
  readonly allowed: ReadonlyMap<string, AllowedHost>
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 }

/**
 * Reads an address and applies the rules that need no resolver. Two programs that parse URLs must find the same host in
 * it, so it must be written as the URL standard writes it: no octal, hexadecimal, short or decimal IPv4 addresses, no
 * percent signs or foreign digits in hosts, international names in ASCII.
 * @throws {AddressRefused}
 */
export function readAddress(address: string, rules: AddressRules): URL {
  const url = address.length <= MAX_ADDRESS_LENGTH ? URL.parse(address) : null
  if (url === null) throw new AddressRefused('form')
  const allowed = rules.allowed.get(hostWithoutBrackets(url))
  const defaultPort = DEFAULT_PORTS[url.protocol]
  if (defaultPort === undefined || (url.protocol === 'http:' && allowed?.plainHttp !== true)) {
    throw new AddressRefused('scheme')
  }
  if (address.includes('#')) throw new AddressRefused('fragment')
  const authority = readWrittenAuthority(address)
  if (authority.includes('@')) throw new AddressRefused('userinfo')
  const usual = authority === url.host || authority === `${url.hostname}:${defaultPort}`
  if (!usual || url.hostname.endsWith('.')) throw new AddressRefused('spelling')
  const ports = allowed?.ports ?? rules.ports
  if (ports !== 'any' && !ports.includes(Number(url.port) || defaultPort)) throw new AddressRefused('port')
  if (isIP(hostWithoutBrackets(url)) !== 0) checkAddressesAllowed([hostWithoutBrackets(url)], allowed)
  return url
}

/**
 * The reason why requests can never reach an allowed host with an IP address: its network is not public, and no setting opens
 * this network, or `row` lacks the setting. Null for other addresses, and for names, which are not resolved here.
 */
export function findUnreachableReason(row: AllowedHost): string | null {
  const special = isIP(row.host) === 0 ? null : findNonPublicNetwork(row.host)
  if (special === null) return null
  const { network, allowedBy } = special
  if (allowedBy === null) return `${row.host} is in the network "${network}", which no setting opens`
  if (row[allowedBy] === true) return null
  return `${row.host} is in the network "${network}", which this does not open: add --${allowedBy}`
}

/**
 * The text between `//` and the path, in lower case; empty when the address has another form.
 * @throws {AddressRefused} it has a character that programs read differently
 */
function readWrittenAuthority(address: string): string {
  // The URL parser drops white space and control characters and reads `\` as `/`; other parsers may not.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u0020\u007f\\]/.test(address)) throw new AddressRefused('spelling')
  return /^https?:\/\/([^/?]*)/i.exec(address)?.[1]?.toLowerCase() ?? ''
}

/**
 * Checks that each address is on the public network, or on a network that is allowed for the host.
 * @throws {AddressRefused} an address is on a network that is not allowed
 */
export function checkAddressesAllowed(addresses: readonly string[], allowed: AllowedHost | undefined): void {
  for (const address of addresses) {
    const special = findNonPublicNetwork(address)
    if (special === null) continue
    if (special.allowedBy === null || allowed?.[special.allowedBy] !== true) {
      throw new AddressRefused('network', special.network)
    }
  }
}

/**
 * A range of addresses that are not public, from the special-purpose registries (RFC 6890 and those of IANA). Ranges may
 * overlap: the first one in the list that contains an address gives the network of this address.
 */
interface NonPublicRange {
  readonly network: string
  /** The prefixes of the range as `address/bits`, all of one family. */
  readonly prefixes: readonly string[]
  /** The setting that opens the range for a host; null: no setting opens it. */
  readonly allowedBy: AllowableNetwork | null
  /** True when the last 32 bits are an IPv4 address, which is checked instead. */
  readonly embeds?: true
}

const IPV4_RANGES: readonly NonPublicRange[] = [
  {
    network: 'cloud metadata',
    // The last three are outside the link-local range: the metadata services of Alibaba, Azure and Oracle.
    prefixes: ['169.254.169.254/32', '169.254.170.2/32', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
    allowedBy: null,
  },
  { network: 'unspecified', prefixes: ['0.0.0.0/8'], allowedBy: null },
  { network: 'loopback', prefixes: ['127.0.0.0/8'], allowedBy: 'loopback' },
  { network: 'private', prefixes: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'], allowedBy: 'private' },
  { network: 'shared (CGNAT)', prefixes: ['100.64.0.0/10'], allowedBy: 'private' },
  { network: 'link-local', prefixes: ['169.254.0.0/16'], allowedBy: null },
  { network: 'documentation', prefixes: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'], allowedBy: null },
  { network: 'benchmark', prefixes: ['198.18.0.0/15'], allowedBy: null },
  { network: 'protocol assignments', prefixes: ['192.0.0.0/24', '192.88.99.0/24'], allowedBy: null },
  { network: 'multicast', prefixes: ['224.0.0.0/4'], allowedBy: null },
  { network: 'broadcast', prefixes: ['255.255.255.255/32'], allowedBy: null },
  { network: 'reserved', prefixes: ['240.0.0.0/4'], allowedBy: null },
]

const IPV6_RANGES: readonly NonPublicRange[] = [
  { network: 'cloud metadata', prefixes: ['fd00:ec2::/32', 'fd20:ce::254/128'], allowedBy: null },
  { network: 'unspecified', prefixes: ['::/128'], allowedBy: null },
  { network: 'loopback', prefixes: ['::1/128'], allowedBy: 'loopback' },
  { network: 'IPv4-mapped', prefixes: ['::ffff:0:0/96'], allowedBy: null, embeds: true },
  { network: 'NAT64', prefixes: ['64:ff9b::/96'], allowedBy: null, embeds: true },
  { network: 'local NAT64', prefixes: ['64:ff9b:1::/48'], allowedBy: null },
  { network: 'IPv4-compatible', prefixes: ['::/96'], allowedBy: null },
  { network: 'Teredo', prefixes: ['2001::/32'], allowedBy: null },
  { network: 'protocol assignments', prefixes: ['2001::/23'], allowedBy: null },
  { network: '6to4', prefixes: ['2002::/16'], allowedBy: null },
  { network: 'documentation', prefixes: ['2001:db8::/32', '3fff::/20'], allowedBy: null },
  { network: 'private', prefixes: ['fc00::/7'], allowedBy: 'private' },
  { network: 'link-local', prefixes: ['fe80::/10'], allowedBy: null },
  { network: 'site-local', prefixes: ['fec0::/10'], allowedBy: null },
  { network: 'multicast', prefixes: ['ff00::/8'], allowedBy: null },
  // The public addresses of IPv6 are 2000::/3 alone.
  { network: 'reserved', prefixes: ['::/3', '4000::/2', '8000::/1'], allowedBy: null },
]

type AddressFamily = 'ipv4' | 'ipv6'

function withBlockList(range: NonPublicRange, family: AddressFamily): NonPublicRange & { list: BlockList } {
  const list = new BlockList()
  for (const prefix of range.prefixes) {
    const [network = '', bits] = prefix.split('/')
    list.addSubnet(network, Number(bits), family)
  }
  return { ...range, list }
}

const RANGES_BY_FAMILY = {
  ipv4: IPV4_RANGES.map((range) => withBlockList(range, 'ipv4')),
  ipv6: IPV6_RANGES.map((range) => withBlockList(range, 'ipv6')),
}

interface NonPublicNetwork {
  readonly network: string
  readonly allowedBy: AllowableNetwork | null
}

const INVALID_ADDRESS_NETWORK: NonPublicNetwork = { network: 'no address', allowedBy: null }
const IPV6_SCOPED_NETWORK: NonPublicNetwork = { network: 'scoped', allowedBy: null }

/** The network of an address that is not public; null for a public one. */
export function findNonPublicNetwork(address: string): NonPublicNetwork | null {
  const family = isIP(address)
  if (family === 0) return INVALID_ADDRESS_NETWORK
  // An address with a scope, such as `fe80::1%eth0`, is on a link of this machine.
  if (address.includes('%')) return IPV6_SCOPED_NETWORK
  const name = family === 6 ? 'ipv6' : 'ipv4'
  const range = RANGES_BY_FAMILY[name].find(({ list }) => list.check(address, name))
  if (range === undefined) return null
  return range.embeds === true ? findNonPublicNetwork(embeddedIpv4Address(address)) : range
}

/** The IPv4 address in the last 32 bits of an IPv6 address. */
function embeddedIpv4Address(address: string): string {
  // The URL parser writes every IPv6 address in hexadecimal groups, with `::` for the longest run of zeros.
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split(':')
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group || '0', 16))
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}
