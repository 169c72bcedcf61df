/** The addresses of a server, and who can reach them. */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback } from '@rollcall/base/shared/loopback'

/** Settings about addresses. */
interface Listeners {
  readonly host: string
  readonly adminHost: string
  readonly adminHosts: readonly string[]
  readonly behindTlsProxy: boolean
  readonly publicUrl: string | undefined
}

/** The host of a Host header, an IPv6 address without brackets; null for an invalid one. */
function hostOf(header: string): string | null {
  const name = URL.parse(`http://${header}`)?.hostname.replace(/^\[|\]$/g, '')
  return name === undefined || name === '' ? null : name
}

/**
 * True when a Host header names the operator's listener: this machine, the address of the connection, or a configured
 * name. False for a web page of another name that leads here (DNS rebinding).
 * @param localAddress our address of the connection
 */
export function isOperatorHost(
  { adminHost, adminHosts }: Pick<Listeners, 'adminHost' | 'adminHosts'>,
  header: string | undefined,
  localAddress: string | undefined,
): boolean {
  const host = header === undefined ? null : hostOf(header)
  if (host === null) return false
  const own = [adminHost, ...adminHosts, localAddress?.replace(/^::ffff:(?=[\d.]+$)/, '') ?? '']
  return isLoopback(host) || own.some((name) => hostOf(isIP(name) === 6 ? `[${name}]` : name) === host)
}

/**
 * True when the browser of a request to our listeners speaks TLS with a proxy: a proxy is configured, and it says so or
 * passes on a host other than this machine. An operator on this machine, or in a tunnel to it, uses no proxy.
 */
export function isReachedByTls(
  { behindTlsProxy }: Pick<Listeners, 'behindTlsProxy'>,
  headers: IncomingHttpHeaders,
): boolean {
  if (!behindTlsProxy) return false
  const host = headers.host === undefined ? null : hostOf(headers.host)
  return headers['x-forwarded-proto'] === 'https' || host === null || !isLoopback(host)
}

/** Listening on all addresses is no address to send a request to; this machine answers on loopback then. */
const REACHED_AT: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** `http://host:port` of a listener, as this machine can use it. */
export function listenerUrl(host: string, port: number): string {
  const name = REACHED_AT[host] ?? host
  return `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}`
}

/** A note in brackets for a listener on all addresses, which `listenerUrl` cannot name; otherwise empty. */
export function reachNote(variable: string, host: string): string {
  return host in REACHED_AT ? ` (${variable} ${host}: at every address of this machine)` : ''
}

/** The address that peers know: the configured one, or that of the listener; without a final slash. */
export function baseUrl(config: Pick<Listeners, 'publicUrl' | 'host'>, port: number): string {
  return config.publicUrl ?? listenerUrl(config.host, port)
}
