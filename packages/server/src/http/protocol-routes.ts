/** A route for every path of every operation, whether it is answered here or refused, and of every callback: loops over their tables. */

import { CALLBACKS, OPERATIONS, type Operation, type RequestFault } from '@rollcall/protocol'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { authenticate } from '../exchange/authenticate.ts'
import { receive } from '../exchange/receive.ts'
import { ASYNCHRONOUS, SYNCHRONOUS } from '../exchange/roads.ts'
import { receiveCallback } from '../inbox/callbacks.ts'
import type { Registry } from '../model/registry.ts'
import { ANSWERED_OPERATIONS } from '../operations/handlers.ts'
import { sendJson } from './answer.ts'
import { notFound, notServed } from './faults.ts'
import { type HttpServer, mount } from './server.ts'

/** The version segment of every base address (spec "Versioning" 2). */
export const VERSION_SEGMENT = 'v1.0.0'

export function addProtocolRoutes(app: HttpServer, context: Context): void {
  for (const operation of OPERATIONS) {
    const roads = [
      ...operation.sync_paths.map((path) => ({ path, road: SYNCHRONOUS })),
      ...operation.async_paths.map((path) => ({ path, road: ASYNCHRONOUS })),
    ]
    for (const { path, road } of roads) {
      mount(app, 'POST', operation.name, `/:namespace/${VERSION_SEGMENT}/${path}`, async (request, reply) => {
        const registry = await registryOf(context, request)
        if (!answers(registry, operation)) throw await refusal(context, request)
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
 * @throws RequestFault 404 when there is none
 */
export async function registryOf(context: Context, request: FastifyRequest): Promise<Registry> {
  const { namespace } = request.params as { namespace: string }
  const registry = await context.directory.registry(namespace)
  if (registry === undefined) throw notFound()
  return registry
}

function answers({ kind }: Registry, operation: Operation): boolean {
  if (!ANSWERED_OPERATIONS.includes(operation)) return false
  return operation.kinds === 'all' || kind.operations.includes(operation.name)
}

/**
 * What whoever asks for an operation that is not answered here is told: as everywhere, only after its token and its quota.
 * @throws RequestFault 401, 429
 */
async function refusal(context: Context, { headers, raw }: FastifyRequest): Promise<RequestFault> {
  const identified = (sender_id: string): void => context.gate.identified(raw, sender_id)
  const participant = await authenticate(context, { headers, identified })
  const visit = await context.quota.enter(participant)
  visit.leave()
  return notServed()
}
