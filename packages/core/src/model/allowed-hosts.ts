/** Hosts that the operator allows for our requests to a participant or a consent authority, besides public hosts with https. */
import { canonicalJson } from '@rollcall/protocol'

/** The longest address, in characters, to which we send requests, wherever the address comes from. */
export const MAX_ADDRESS_LENGTH = 2_048

/** The networks that an operator can allow for a host. No setting allows other internal networks. */
export type AllowableNetwork = 'private' | 'loopback'

/** A host to which our requests may go, with the networks, the ports and plain HTTP that are allowed there. */
export interface AllowedHost extends Partial<Readonly<Record<AllowableNetwork, boolean>>> {
  /** A name or an address as written in a URL, in lower case and without wildcards; an IPv6 address without its brackets. */
  readonly host: string
  /** The ports that are allowed for this host, instead of those that are allowed for all hosts. */
  readonly ports?: readonly number[] | 'any'
  /** True when requests may go to this host without TLS. */
  readonly plainHttp?: boolean
}

/** The host of a URL as sockets and resolvers need it: an IPv6 address without brackets. */
export function hostWithoutBrackets(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

/** Returns the allowed hosts by name. @throws TypeError a host is not written as in a URL, or has two rows */
export function hostsByName(rows: readonly AllowedHost[]): ReadonlyMap<string, AllowedHost> {
  const byHost = new Map<string, AllowedHost>()
  for (const row of rows) {
    // Only an IPv6 address has a colon in the host of a URL.
    const url = URL.parse(`https://${row.host.includes(':') ? `[${row.host}]` : row.host}`)
    if (url === null || hostWithoutBrackets(url) !== row.host || /\*|\.$/.test(row.host)) {
      throw new TypeError('an allowed host must be written as in an address, in lower case, and IPv6 without brackets')
    }
    if (byHost.has(row.host)) throw new TypeError('an allowed host must have one row')
    byHost.set(row.host, row)
  }
  return byHost
}

/** The rows of `rows` (allowed hosts) that have no equal row in `others`. */
export function hostsNotIn(rows: readonly AllowedHost[], others: readonly AllowedHost[]): readonly AllowedHost[] {
  const known = new Set(others.map(canonicalJson))
  return rows.filter((row) => !known.has(canonicalJson(row)))
}
