/** What can be judged of an address by reading it: no name is resolved here. */
import { isIP } from 'node:net'
import { type AllowedHost, bareHost } from '../model/allowed-hosts.ts'
import { specialNetwork } from './address-ranges.ts'
import { AddressRefused } from './problems.ts'

export interface AddressRules {
  /** Ports that every host may be reached at. */
  readonly ports: readonly number[]
  readonly allowed: ReadonlyMap<string, AllowedHost>
}

const MAX_LENGTH = 2048
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 }

/**
 * Reads an address and applies every rule that needs no resolver. Two programs that parse URLs must see the same
 * host in it, so it has to be written the way in which the URL standard writes it: no octal, hexadecimal, short or
 * decimal IPv4 addresses, no percent signs or foreign digits in hosts, international names in their ASCII form.
 *
 * @throws {AddressRefused}
 */
export function readAddress(address: string, rules: AddressRules): URL {
  const url = address.length <= MAX_LENGTH ? URL.parse(address) : null
  if (url === null) throw new AddressRefused('form')
  const allowed = rules.allowed.get(bareHost(url))
  const defaultPort = DEFAULT_PORTS[url.protocol]
  if (defaultPort === undefined || (url.protocol === 'http:' && allowed?.plainHttp !== true)) {
    throw new AddressRefused('scheme')
  }
  if (address.includes('#')) throw new AddressRefused('fragment')
  const authority = writtenAuthority(address)
  if (authority.includes('@')) throw new AddressRefused('userinfo')
  const usual = authority === url.host || authority === `${url.hostname}:${defaultPort}`
  if (!usual || url.hostname.endsWith('.')) throw new AddressRefused('spelling')
  const ports = allowed?.ports ?? rules.ports
  if (ports !== 'any' && !ports.includes(Number(url.port) || defaultPort)) throw new AddressRefused('port')
  if (isIP(bareHost(url)) !== 0) assertReachable([bareHost(url)], allowed)
  return url
}

/**
 * Why no request will ever reach an allowed host as its row says, or null where one may: an address in a network that
 * no setting opens, or that this row does not open. The addresses of a name are not known before it is resolved.
 */
export function unreachableHost(row: AllowedHost): string | null {
  const special = isIP(row.host) === 0 ? null : specialNetwork(row.host)
  if (special === null) return null
  const { network, allowedBy } = special
  if (allowedBy === null) return `${row.host} is in the network "${network}", which no setting opens`
  if (row[allowedBy] === true) return null
  return `${row.host} is in the network "${network}", which this does not open: add --${allowedBy}`
}

/** What stands between `//` and the path, in lower case; empty when the text is not of that form. */
function writtenAuthority(address: string): string {
  // The parser drops white space and control characters and reads `\` as `/`; another one may not.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u0020\u007f\\]/.test(address)) throw new AddressRefused('spelling')
  return /^https?:\/\/([^/?]*)/i.exec(address)?.[1]?.toLowerCase() ?? ''
}

/**
 * Every address is on the public network, or on one that is allowed for the host.
 * @throws {AddressRefused} for the first that is not
 */
export function assertReachable(addresses: readonly string[], allowed: AllowedHost | undefined): void {
  for (const address of addresses) {
    const special = specialNetwork(address)
    if (special === null) continue
    if (special.allowedBy === null || allowed?.[special.allowedBy] !== true) {
      throw new AddressRefused('network', special.network)
    }
  }
}
