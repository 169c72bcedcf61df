/** The hosts that the operator permits for requests to a participant, beyond https to the public network. */
import { canonicalJson } from '@rollcall/protocol'

/** The longest address, in characters, that we call. A longer address is refused, wherever it comes from. */
export const MAX_ADDRESS_LENGTH = 2_048

/** The networks that an operator can open for a host. No setting opens other internal networks. */
export type AllowableNetwork = 'private' | 'loopback'

/** The permission for one host. */
export interface AllowedHost extends Partial<Readonly<Record<AllowableNetwork, boolean>>> {
  /** A name or an address as written in a URL, without wildcards. */
  readonly host: string
  /** The ports that are allowed for this host, in place of those that are allowed for every host. */
  readonly ports?: readonly number[] | 'any'
  /** Messages may go to this host without TLS. */
  readonly plainHttp?: boolean
}

/** The host of a URL as sockets and resolvers know it: IPv6 addresses without brackets. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

/** Rows by host. @throws {TypeError} for a host that is not written as in a URL, or that has two rows */
export function allowedHosts(rows: readonly AllowedHost[]): ReadonlyMap<string, AllowedHost> {
  const byHost = new Map<string, AllowedHost>()
  for (const row of rows) {
    // Only an IPv6 address has a colon in the host of a URL.
    const url = URL.parse(`https://${row.host.includes(':') ? `[${row.host}]` : row.host}`)
    if (url === null || bareHost(url) !== row.host || /\*|\.$/.test(row.host)) {
      throw new TypeError('an allowed host must be written as it stands in an address, in lower case')
    }
    if (byHost.has(row.host)) throw new TypeError('an allowed host must have one row')
    byHost.set(row.host, row)
  }
  return byHost
}

/** The rows of `rows` that have no equal row in `others`. */
export function hostsNotIn(rows: readonly AllowedHost[], others: readonly AllowedHost[]): readonly AllowedHost[] {
  const known = new Set(others.map(canonicalJson))
  return rows.filter((row) => !known.has(canonicalJson(row)))
}
