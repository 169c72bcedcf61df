/**
 * The hosts, one row each, that the operator permits for requests to a participant, beyond https to the public network.
 */
import { canonicalJson } from '@rollcall/protocol'

/** Characters of an address that is called: longer ones are refused wherever they come from. */
export const MAX_ADDRESS_LENGTH = 2_048

/** Networks that an operator can open for a host; no setting opens the others. */
export type AllowableNetwork = 'private' | 'loopback'

/** One row. */
export interface AllowedHost extends Partial<Readonly<Record<AllowableNetwork, boolean>>> {
  /** A name or an address, as it stands in a URL; no wildcards. */
  readonly host: string
  /** In place of the ports that every host may be reached at. */
  readonly ports?: readonly number[] | 'any'
  /** Messages may go to this host without TLS. */
  readonly plainHttp?: boolean
}

/** The host of a URL as sockets and resolvers know it: IPv6 addresses without brackets. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

/**
 * Rows by host.
 * @throws {TypeError} for a host that is not written as in a URL, or that has two rows
 */
export function allowedHosts(rows: readonly AllowedHost[]): ReadonlyMap<string, AllowedHost> {
  const byHost = new Map<string, AllowedHost>()
  for (const row of rows) {
    // In the host of a URL only an IPv6 address has a colon.
    const url = URL.parse(`https://${row.host.includes(':') ? `[${row.host}]` : row.host}`)
    if (url === null || bareHost(url) !== row.host || /\*|\.$/.test(row.host)) {
      throw new TypeError('an allowed host must be written as it stands in an address, in lower case')
    }
    if (byHost.has(row.host)) throw new TypeError('an allowed host must have one row')
    byHost.set(row.host, row)
  }
  return byHost
}

/** Rows of the one list that are not, exactly so, in the other. */
export function hostsBeside(rows: readonly AllowedHost[], others: readonly AllowedHost[]): readonly AllowedHost[] {
  const known = new Set(others.map(canonicalJson))
  return rows.filter((row) => !known.has(canonicalJson(row)))
}
