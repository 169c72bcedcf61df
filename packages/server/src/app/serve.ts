/** A running server: both listeners, from start to a clean stop. */
import type { AddressInfo } from 'node:net'
import type { Context } from '../context.ts'
import { addHealthRoutes } from '../http/health.ts'
import { addTokenRoute } from '../http/oauth.ts'
import { addOperatorRoutes } from '../http/operator-routes.ts'
import { addProtocolRoutes } from '../http/protocol-routes.ts'
import { addReferenceRoutes } from '../http/reference.ts'
import { createHttpServer, type HttpServer } from '../http/server.ts'
import { addWellKnownRoutes } from '../http/well-known.ts'
import type { Config } from './config.ts'
import { startHousekeeping } from './housekeeping.ts'

export interface RunningServer {
  /** The ports listened on: those configured, or those given where 0 was. */
  readonly port: number
  readonly adminPort: number
  /** From now on `/ready` answers 200 while the database does. */
  markReady(): void
  /** Stops listening, lets requests in flight end, then closes. */
  stop(): Promise<void>
}

/** Starts listening. Everything a request needs is in `context`; the caller closes the database after `stop`. */
export async function startServer(config: Config, context: Context): Promise<RunningServer> {
  let ready = false
  const publicServer = createHttpServer(context)
  addHealthRoutes(publicServer, context, () => ready)
  addTokenRoute(publicServer, context, { queryParameters: config.tokenQueryParameters })
  addWellKnownRoutes(publicServer, context)
  addProtocolRoutes(publicServer, context)
  addReferenceRoutes(publicServer, context)

  const operatorServer = createHttpServer(context)
  addOperatorRoutes(operatorServer, context)

  const stopHousekeeping = startHousekeeping(context)
  const stop = async (): Promise<void> => {
    ready = false
    await Promise.all([publicServer.close(), operatorServer.close()])
    await Promise.all([stopHousekeeping(), context.guards.close(), context.slowSearches.stop()])
  }
  try {
    await operatorServer.listen({ host: config.adminHost, port: config.adminPort })
    await publicServer.listen({ host: config.host, port: config.port })
  } catch (error) {
    await stop()
    throw error
  }
  const markReady = (): void => {
    ready = true
  }
  const port = portOf(publicServer)
  const adminPort = portOf(operatorServer)
  context.log.info({ host: config.host, port, adminHost: config.adminHost, adminPort }, 'listening')
  return { port, adminPort, markReady, stop }
}

function portOf(server: HttpServer): number {
  return (server.server.address() as AddressInfo).port
}
