/** The content of a demo that our pages show. A server of real data has none. */
import type { IncomingMessage } from 'node:http'

export interface DemoContent {
  /** The participant of the demo, with all rights. Its secret is shown only on this machine. */
  readonly participant: { readonly sender_id: string; readonly client_id: string; readonly client_secret: string }
  /** The address of the operator's listener. */
  readonly operatorUrl: string
  /** The command that prints a link to the partner page, with the environment variables of this demo. */
  readonly linkCommand: string
  /** Shell commands for a first search. They have the participant's secret. */
  readonly commands: string
  /** The identifiers of existing records, by namespace. */
  readonly samples: ReadonlyMap<string, readonly DemoSampleIdentifier[]>
  /** The address of the demo's own page. It switches the receiver of callbacks and the simulation of traffic on and off. */
  readonly demoPage: string
}

export interface DemoSampleIdentifier {
  readonly identifier_type: string
  readonly identifier_value: string
}

/** How pages get the content of a demo, and learn whether a visitor is on this machine. */
export interface HasDemoContent {
  /** The content of the demo; null before the demo has set it, and on a server that is no demo. */
  readonly showcase: () => DemoContent | null
  /** True when a host, as address or name, is this machine. */
  readonly isLoopback: (host: string) => boolean
}

/** Headers that proxies add. A request with one of them may come from another machine. */
const PROXY_HEADERS = [
  ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'],
  ...['cf-connecting-ip', 'true-client-ip', 'x-client-ip', 'x-original-host'],
]

/**
 * True when a browser on this machine opens one of our pages; only then is the demo's secret shown. The request must come from
 * this machine without a header of a proxy. Its Host must name this machine: under another name, a foreign page could read the
 * secret (DNS rebinding). `Sec-Fetch-Site`, if sent, must say that a person typed the address or that our page sends the request.
 */
export function isFromThisMachine(
  { isLoopback }: Pick<HasDemoContent, 'isLoopback'>,
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
): boolean {
  if (PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'none' && site !== 'same-origin') return false
  const host = URL.parse(`http://${headers.host}`)?.hostname.replace(/^\[|\]$/g, '') ?? ''
  const address = socket.remoteAddress?.replace(/^::ffff:(?=[\d.]+$)/, '') ?? ''
  return isLoopback(host) && isLoopback(address)
}
