/** Adds a route for every path of every operation and of every callback, from their tables. */

import type { Registry } from '@rollcall/core/model/registry'
import { receiveRequest } from '@rollcall/engine/exchange/receive'
import { receiveCallback } from '@rollcall/engine/inbox/callbacks'
import type { Directory } from '@rollcall/participants/directory/directory'
import { CALLBACKS, OPERATIONS } from '@rollcall/protocol'
import type { FastifyRequest } from 'fastify'
import { notFoundFault, sendJson } from './answer.ts'
import type { RequestGate } from './request-gate.ts'
import { type HttpServer, mountHandler } from './server.ts'

/** The version segment of every base address (spec "Versioning" 2). */
export const VERSION_SEGMENT = 'v1.0.0'

export interface HasDirectory {
  readonly directory: Pick<Directory, 'registry'>
}

/** The parts of the server that the protocol's routes need. */
type ProtocolDeps = HasDirectory &
  Parameters<typeof receiveRequest>[0] &
  Parameters<typeof receiveCallback>[0] & {
    /** Notes facts of a request for the access log and the log of refusals. */
    readonly requestGate: Pick<RequestGate, 'noteParticipant' | 'noteOperation' | 'noteIds' | 'noteRejection'>
  }

export function addProtocolRoutes(app: HttpServer, context: ProtocolDeps): void {
  for (const operation of OPERATIONS) {
    const paths = [
      ...operation.sync_paths.map((path) => ({ path, mode: 'sync' }) as const),
      ...operation.async_paths.map((path) => ({ path, mode: 'async' }) as const),
    ]
    for (const { path, mode } of paths) {
      const route = { name: operation.name, mode, deprecated: operation.deprecated }
      mountHandler(app, 'POST', route, `/:namespace/${VERSION_SEGMENT}/${path}`, async (request, reply) => {
        const registry = await requireRegistryOfPath(context, request)
        context.requestGate.noteOperation(request.raw, { registry: registry.namespace, operation: operation.name })
        const { text, correlation_id, rejected } = await receiveRequest(context, mode, operation, registry, {
          path,
          headers: request.headers,
          body: request.raw,
          isGone: () => request.raw.socket.destroyed,
          afterAnswer: (work) => (reply.raw.closed ? work() : reply.raw.once('close', work)),
          onParticipantKnown: (sender_id) => context.requestGate.noteParticipant(request.raw, sender_id),
          onHeaderRead: ({ message_id }) => context.requestGate.noteIds(request.raw, { message_id }),
        })
        context.requestGate.noteIds(request.raw, { correlation_id })
        if (rejected !== undefined) context.requestGate.noteRejection(request.raw, rejected)
        sendJson(reply, 200, text)
      })
    }
  }
  for (const callback of CALLBACKS) {
    const { name, path } = callback
    mountHandler(app, 'POST', name, `/:namespace/${VERSION_SEGMENT}/${path}`, async (request, reply) => {
      const registry = await requireRegistryOfPath(context, request)
      const { headers, raw: body } = request
      context.requestGate.noteOperation(body, { registry: registry.namespace, operation: name })
      const { text, correlation_id } = await receiveCallback(context, callback, registry, {
        path,
        headers,
        body,
        isGone: () => body.socket.destroyed,
        onParticipantKnown: (sender_id) => context.requestGate.noteParticipant(body, sender_id),
        onHeaderRead: ({ message_id }) => context.requestGate.noteIds(body, { message_id }),
      })
      context.requestGate.noteIds(body, { correlation_id })
      sendJson(reply, 200, text)
    })
  }
}

/** Finds the registry that the path of a request names. @throws RequestFault 404 there is none */
export async function requireRegistryOfPath({ directory }: HasDirectory, request: FastifyRequest): Promise<Registry> {
  const { namespace } = request.params as { namespace: string }
  const registry = await directory.registry(namespace)
  if (registry === undefined) throw notFoundFault()
  return registry
}
