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
 * True when a Host header names the operator's listener: by a loopback name, by our address of the connection, or by a configured
 * name. False for any other name: a foreign web page may let its own name lead to this machine (DNS rebinding).
 * @param localAddress the address on our side of the connection
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
 * True when the client of a request speaks TLS with a proxy before our listeners. Without a configured proxy always false. With
 * one, false only for a request to a loopback host without `X-Forwarded-Proto: https`: it comes from this machine or through a
 * tunnel, and not through the proxy.
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
const LOOPBACK_BY_WILDCARD_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** The address of a listener as this machine can use it: `http://host:port`. */
export function listenerUrl(host: string, port: number): string {
  const name = LOOPBACK_BY_WILDCARD_ADDRESS[host] ?? host
  return `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}`
}

/**
 * A note for messages that a listener listens at every address of this machine, which `listenerUrl` does not say. '' when the
 * listener has one address.
 * @param variable the variable that sets the host, such as `ADMIN_HOST`
 */
export function allAddressesNote(variable: string, host: string): string {
  return host in LOOPBACK_BY_WILDCARD_ADDRESS ? ` (${variable} ${host}: at every address of this machine)` : ''
}

/** The address that peers know, without a final slash: the configured one, or that of the listener. */
export function baseUrl(config: Pick<ListenerSettings, 'publicUrl' | 'host'>, port: number): string {
  return config.publicUrl ?? listenerUrl(config.host, port)
}
