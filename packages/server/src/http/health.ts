/** Whether the process and its database are well; on both listeners, for load balancers and supervisors. */
import { sendJson } from './answer.ts'
import { type HttpServer, mount } from './server.ts'

/** @param isReady whether the node has finished starting, does what its role asks for, and its database answers */
export function addHealthRoutes(app: HttpServer, isReady: () => Promise<boolean>): void {
  mount(app, 'GET', 'health', '/health', (_request, reply) => sendJson(reply, 200, '{"status":"ok"}'))
  mount(app, 'GET', 'ready', '/ready', async (_request, reply) => {
    if (await isReady()) sendJson(reply, 200, '{"status":"ready"}')
    else sendJson(reply, 503, '{"status":"not ready"}')
  })
}
