/** The addresses of a server, and from where they can be reached. */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback } from '@rollcall/base/shared/loopback'

interface ListenerSettings {
  readonly host: string
  readonly adminHost: string
  readonly adminHosts: readonly string[]
  readonly behindTlsProxy: boolean
  readonly publicUrl: string | undefined
}

/** The host in a Host header, without brackets around an IPv6 address; null for an invalid header. */
function findHostInHeader(header: string): string | null {
  const name = URL.parse(`http://${header}`)?.hostname.replace(/^\[|\]$/g, '')
  return name === undefined || name === '' ? null : name
}

/**
 * True when a Host header names the operator's listener: this machine, the address of the connection, or a configured
 * name. False for another name that leads here: a web page may have such a name (DNS rebinding).
 * @param localAddress our address of the connection
 */
export function isOperatorHost(
  { adminHost, adminHosts }: Pick<ListenerSettings, 'adminHost' | 'adminHosts'>,
  header: string | undefined,
  localAddress: string | undefined,
): boolean {
  const host = header === undefined ? null : findHostInHeader(header)
  if (host === null) return false
  const own = [adminHost, ...adminHosts, localAddress?.replace(/^::ffff:(?=[\d.]+$)/, '') ?? '']
  return isLoopback(host) || own.some((name) => findHostInHeader(isIP(name) === 6 ? `[${name}]` : name) === host)
}

/**
 * True when the client of a request speaks TLS with a proxy before our listeners: a proxy is configured, and the
 * headers say that the client speaks https, or have a host that is not this machine. An operator on this machine, or in
 * a tunnel to it, uses no proxy.
 */
export function isReachedByTls(
  { behindTlsProxy }: Pick<ListenerSettings, 'behindTlsProxy'>,
  headers: IncomingHttpHeaders,
): boolean {
  if (!behindTlsProxy) return false
  const host = headers.host === undefined ? null : findHostInHeader(headers.host)
  return headers['x-forwarded-proto'] === 'https' || host === null || !isLoopback(host)
}

/** The address at which this machine reaches a listener that listens on all addresses. */
const LOOPBACK_OF_ANY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** The address of a listener as this machine can use it: `http://host:port`. */
export function listenerUrl(host: string, port: number): string {
  const name = LOOPBACK_OF_ANY_ADDRESS[host] ?? host
  return `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}`
}

/** A note in brackets for a listener on all addresses, which `listenerUrl` cannot express; empty for others. */
export function allAddressesNote(variable: string, host: string): string {
  return host in LOOPBACK_OF_ANY_ADDRESS ? ` (${variable} ${host}: at every address of this machine)` : ''
}

/** The address that peers know, without a final slash: the configured one, or that of the listener. */
export function baseUrl(config: Pick<ListenerSettings, 'publicUrl' | 'host'>, port: number): string {
  return config.publicUrl ?? listenerUrl(config.host, port)
}
