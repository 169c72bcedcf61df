/** The addresses of a server, and who can reach them. */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback } from '@rollcall/base/shared/loopback'

/** What addresses have to do with the configuration. */
interface Listeners {
  readonly host: string
  readonly adminHost: string
  readonly adminHosts: readonly string[]
  readonly behindTlsProxy: boolean
  readonly publicUrl: string | undefined
}

/** The host of a Host header, an IPv6 address without brackets; null where it is none. */
function hostOf(header: string): string | null {
  const name = URL.parse(`http://${header}`)?.hostname.replace(/^\[|\]$/g, '')
  return name === undefined || name === '' ? null : name
}

/**
 * Whether the operator's listener is meant by a Host header: this machine, the address that the connection came to, and
 * names that are configured. A web page whose name leads here (DNS rebinding) is none of them.
 * @param localAddress of the connection
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
 * Whether a browser that sent this to one of our listeners speaks TLS with a proxy: one stands before it, and says so or
 * passes on a name that is not this machine's. An operator on this machine, or in a tunnel to it, does without the proxy.
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

/** What a listener on all addresses is reached at besides `listenerUrl`, in brackets; else nothing. */
export function reachNote(variable: string, host: string): string {
  return host in REACHED_AT ? ` (${variable} ${host}: at every address of this machine)` : ''
}

/** The base address that peers know: the configured one, else that of the listener; without a slash at its end. */
export function baseUrl(config: Pick<Listeners, 'publicUrl' | 'host'>, port: number): string {
  return config.publicUrl ?? listenerUrl(config.host, port)
}
