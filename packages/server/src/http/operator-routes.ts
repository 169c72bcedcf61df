/** The operator's own listener: not for peers, on loopback unless configured otherwise. */
import type { Context } from '../context.ts'
import { send } from './answer.ts'
import { type HttpServer, mount } from './server.ts'

export function addOperatorRoutes(app: HttpServer, { metrics }: Context): void {
  mount(app, 'GET', 'metrics', '/metrics', async (_request, reply) => {
    const { contentType, text } = await metrics.render()
    send(reply, 200, text, { 'Content-Type': contentType })
  })
}
