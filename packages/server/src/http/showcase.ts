/** Content of a demo's pages. A server of real data has none. */
import type { IncomingMessage } from 'node:http'

export interface Showcase {
  /** The participant with all rights. Only this machine sees its secret. */
  readonly participant: { readonly sender_id: string; readonly client_id: string; readonly client_secret: string }
  /** Address of the operator's listener. */
  readonly operatorUrl: string
  /** The command that prints a link to the partner page, with the variables by which it finds this demo. */
  readonly linkCommand: string
  /** Shell commands for a first search; they have the secret. */
  readonly commands: string
  /** By namespace: identifiers of existing records. */
  readonly samples: ReadonlyMap<string, readonly ShownIdentifier[]>
  /** Address of the demo's own page, which starts, breaks and mends the demo's other parts. */
  readonly demoPage: string
}

export interface ShownIdentifier {
  readonly identifier_type: string
  readonly identifier_value: string
}

/** The present content. */
export interface HasShowcase {
  readonly showcase: () => Showcase | null
  /** True when a host, as address or name, is this machine. */
  readonly isLoopback: (host: string) => boolean
}

/** Headers that proxies add: a request with one of them comes from another machine. */
const OF_PROXIES = [
  ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'],
  ...['cf-connecting-ip', 'true-client-ip', 'x-client-ip', 'x-original-host'],
]

/**
 * True when a browser on this machine opens one of our pages: the host is this machine, and `Sec-Fetch-Site` says that
 * the page was typed in or comes from here. A page of another name (DNS rebinding), a script of another page, and a
 * visitor through a proxy with its headers do not see the demo's secret.
 */
export function isFromThisMachine(
  { isLoopback }: Pick<HasShowcase, 'isLoopback'>,
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
): boolean {
  if (OF_PROXIES.some((name) => headers[name] !== undefined)) return false
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'none' && site !== 'same-origin') return false
  const host = URL.parse(`http://${headers.host}`)?.hostname.replace(/^\[|\]$/g, '') ?? ''
  const address = socket.remoteAddress?.replace(/^::ffff:(?=[\d.]+$)/, '') ?? ''
  return isLoopback(host) && isLoopback(address)
}
