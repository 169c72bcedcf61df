/** Whether the process and its database are well; on both listeners, for load balancers and supervisors. */
import type { Context } from '../context.ts'
import { sendJson } from './answer.ts'
import { type HttpServer, mount } from './server.ts'

/** @param isReady whether the node has finished starting, and does what its role asks for */
export function addHealthRoutes(app: HttpServer, { db }: Context, isReady: () => boolean): void {
  mount(app, 'GET', 'health', '/health', (_request, reply) => sendJson(reply, 200, '{"status":"ok"}'))
  mount(app, 'GET', 'ready', '/ready', async (_request, reply) => {
    const ready = isReady() && (await answersQueries(db))
    if (ready) sendJson(reply, 200, '{"status":"ready"}')
    else sendJson(reply, 503, '{"status":"not ready"}')
  })
}

/** The database has this long to say that it is there. */
const PATIENCE = 2_000

async function answersQueries(db: Context['db']): Promise<boolean> {
  const late = Promise.withResolvers<false>()
  const timer = setTimeout(() => late.resolve(false), PATIENCE)
  const answered = db.pool.query('SELECT 1').then(
    () => true,
    () => false,
  )
  const ready = await Promise.race([answered, late.promise])
  clearTimeout(timer)
  return ready
}
