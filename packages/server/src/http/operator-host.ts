/** Lets the operator's listener answer only under its own host names. */
import type { IncomingMessage } from 'node:http'
import { RequestFault } from '@rollcall/protocol'

/** Whether a Host header names this listener, whose address on the connection is `localAddress`. */
export type IsOperatorListenerHost = (header: string | undefined, localAddress: string | undefined) => boolean

/** Refuses web pages that reach this listener by a host name of their own (DNS rebinding). @throws RequestFault 421 */
export function checkOperatorHost(
  isOwnHost: IsOperatorListenerHost,
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
): void {
  if (isOwnHost(headers.host, socket.localAddress)) return
  throw new RequestFault('err.request.bad', 'Host: is not the address of this listener, nor one of ROLLCALL_ADMIN_HOSTS', 421)
}
