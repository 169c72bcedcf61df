/** The operator's own listener: not for peers, on loopback unless configured otherwise. */
import { RequestFault } from '@rollcall/protocol'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { send } from './answer.ts'
import { type HttpServer, mount } from './server.ts'

/** @param isOwnHost whether a Host header means this listener, at the address that the connection came to */
export function addOperatorRoutes(
  app: HttpServer,
  { metrics }: Context,
  isOwnHost: (header: string | undefined, localAddress: string | undefined) => boolean,
): void {
  mount(app, 'GET', 'metrics', '/metrics', async (request, reply) => {
    refuseForeignHost(request, isOwnHost)
    const { contentType, text } = await metrics.render()
    send(reply, 200, text, { 'Content-Type': contentType })
  })
}

/** A web page that an operator has open must not read them by a name of its own that leads here. */
function refuseForeignHost(
  { raw }: FastifyRequest,
  isOwnHost: (header: string | undefined, localAddress: string | undefined) => boolean,
): void {
  if (isOwnHost(raw.headers.host, raw.socket.localAddress)) return
  throw new RequestFault(
    'err.request.bad',
    'Host: is not the address of this listener, nor one of ROLLCALL_ADMIN_HOSTS',
    421,
  )
}
