/** The operator's listener answers under names of its own alone. */
import type { IncomingMessage } from 'node:http'
import { RequestFault } from '@rollcall/protocol'

/** Whether a Host header means this listener, at the address that the connection came to. */
export type IsOwnHost = (header: string | undefined, localAddress: string | undefined) => boolean

/**
 * A web page that an operator has open must not reach it by a name of its own that leads here.
 * @throws RequestFault 421
 */
export function checkOperatorHost(
  isOwnHost: IsOwnHost,
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
): void {
  if (isOwnHost(headers.host, socket.localAddress)) return
  throw new RequestFault(
    'err.request.bad',
    'Host: is not the address of this listener, nor one of ROLLCALL_ADMIN_HOSTS',
    421,
  )
}
