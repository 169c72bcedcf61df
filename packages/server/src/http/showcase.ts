/** What a demo shows to whoever opens its pages. A server of real data has none. */
import type { IncomingMessage } from 'node:http'

export interface Showcase {
  /** Who may do everything. Its secret is shown on this machine only. */
  readonly participant: { readonly sender_id: string; readonly client_id: string; readonly client_secret: string }
  /** The address of the operator's listener. */
  readonly operatorUrl: string
  /** The command that prints a link to the partner page, with the settings by which it finds this demo. */
  readonly linkCommand: string
  /** Commands for a shell that make a first search; they hold the secret. */
  readonly commands: string
  /** By namespace: identifiers of records that are there. */
  readonly samples: ReadonlyMap<string, readonly ShownIdentifier[]>
  /** The address of the demo's own page, which starts, breaks and mends what the demo runs beside the server. */
  readonly demoPage: string
}

export interface ShownIdentifier {
  readonly identifier_type: string
  readonly identifier_value: string
}

/** What is shown at the moment. */
export interface HasShowcase {
  readonly showcase: () => Showcase | null
  /** Whether a host, an address or a name, is this machine. */
  readonly isLoopback: (host: string) => boolean
}

/** What proxies add. */
const OF_PROXIES = [
  ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'],
  ...['cf-connecting-ip', 'true-client-ip', 'x-client-ip', 'x-original-host'],
]

/**
 * Whether a browser on this machine opens one of our pages: it names this machine, and it says itself that the page was
 * typed in or comes from here (`Sec-Fetch-Site`). A page of another name that leads here (DNS rebinding), a script of
 * another page, and a visitor through a proxy that says what it is, do not see the secret of the demo.
 */
export function isFromHere(
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
