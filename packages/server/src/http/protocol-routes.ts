/** A route for every path of every operation that is answered here, and of every callback: loops over their tables. */
import { CALLBACKS, type Operation } from '@rollcall/protocol'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { receiveCallback } from '../inbound/callbacks.ts'
import { receive } from '../inbound/receive.ts'
import { ASYNCHRONOUS, SYNCHRONOUS } from '../inbound/roads.ts'
import { ANSWERED_OPERATIONS } from '../operations/handlers.ts'
import type { Registry } from '../store/registries.ts'
import { sendJson } from './answer.ts'
import { notFound } from './faults.ts'
import { type HttpServer, mount } from './server.ts'

/** The version segment of every base address (spec "Versioning" 2). */
export const VERSION_SEGMENT = 'v1.0.0'

export function addProtocolRoutes(app: HttpServer, context: Context): void {
  for (const operation of ANSWERED_OPERATIONS) {
    const roads = [
      ...operation.sync_paths.map((path) => ({ path, road: SYNCHRONOUS })),
      ...operation.async_paths.map((path) => ({ path, road: ASYNCHRONOUS })),
    ]
    for (const { path, road } of roads) {
      mount(app, 'POST', operation.name, `/:namespace/${VERSION_SEGMENT}/${path}`, async (request, reply) => {
        const registry = await registryOf(context, request, operation)
        const { text } = await receive(context, road, operation, registry, {
          path,
          headers: request.headers,
          body: request.raw,
          isGone: () => request.raw.socket.destroyed,
          identified: (sender_id) => context.gate.identified(request.raw, sender_id),
        })
        sendJson(reply, 200, text)
      })
    }
  }
  for (const callback of CALLBACKS) {
    const { name, path } = callback
    mount(app, 'POST', name, `/:namespace/${VERSION_SEGMENT}/${path}`, async (request, reply) => {
      const registry = await registryOf(context, request)
      const { headers, raw: body } = request
      const { text } = await receiveCallback(context, callback, registry, {
        path,
        headers,
        body,
        isGone: () => body.socket.destroyed,
        identified: (sender_id) => context.gate.identified(body, sender_id),
      })
      sendJson(reply, 200, text)
    })
  }
}

/**
 * The registry that the path names.
 * @throws RequestFault 404 when there is none, or when its kind has no such operation
 */
export async function registryOf(
  context: Context,
  request: FastifyRequest,
  operation?: Operation,
): Promise<Registry> {
  const { namespace } = request.params as { namespace: string }
  const registry = await context.directory.registry(namespace)
  if (registry === undefined) throw notFound()
  if (operation !== undefined && !answers(registry, operation)) throw notFound()
  return registry
}

function answers({ kind }: Registry, operation: Operation): boolean {
  return operation.kinds === 'all' || kind.operations.includes(operation.name)
}
