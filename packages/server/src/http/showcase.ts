/** What a demo shows to whoever opens its pages. A server of real data has none. */
import type { IncomingMessage } from 'node:http'

export interface Showcase {
  /** Who may do everything. Its secret is shown on this machine only. */
  readonly participant: {
    readonly sender_id: string
    readonly client_id: string
    readonly client_secret: string
  }
  /** The address of the operator's listener. */
  readonly operatorUrl: string
  /** Commands for a shell that make a first search; they hold the secret. */
  readonly commands: string
  /** By namespace: identifiers of records that are there. */
  readonly samples: ReadonlyMap<string, readonly ShownIdentifier[]>
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

/**
 * Whether a request comes from this machine and calls it so: a page of another name that leads here (DNS rebinding), and a
 * visitor through a proxy, do not see the secret of the demo.
 */
export function isFromHere(
  { isLoopback }: Pick<HasShowcase, 'isLoopback'>,
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
): boolean {
  if (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined) return false
  const host = URL.parse(`http://${headers.host}`)?.hostname.replace(/^\[|\]$/g, '') ?? ''
  const address = socket.remoteAddress?.replace(/^::ffff:(?=[\d.]+$)/, '') ?? ''
  return isLoopback(host) && isLoopback(address)
}
