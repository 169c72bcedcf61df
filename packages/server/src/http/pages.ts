/** Adds routes beside the protocol: the health of the node, its metrics for the operator, our public keys for peers. */

import type { Registry } from '@rollcall/core/model/registry'
import type { SchemaLead } from '@rollcall/database/schema-version'
import type { OwnKeys } from '@rollcall/keys/own-keys'
import type { Metrics } from '@rollcall/observe/metrics'
import type { FastifyReply } from 'fastify'
import { sendBody, sendJson } from './answer.ts'
import { checkOperatorHost, type IsOperatorListenerHost } from './operator-host.ts'
import { type HasDirectory, requireRegistryOfPath } from './protocol-routes.ts'
import { type HttpServer, mountHandler } from './server.ts'

/**
 * Adds `/health` and `/ready`, for load balancers and supervisors.
 * @param isReady whether the node has started, can use the tables, does the work of its role, and its database answers
 * @param away for the operator: the namespaces of registries whose source does not answer; the node serves the others
 * @param schema for the operator: how many versions newer the tables of the database are than those of this node
 */
export function addHealthRoutes(
  app: HttpServer,
  isReady: () => Promise<boolean>,
  { schema, away }: { readonly schema?: () => SchemaLead; readonly away?: () => readonly string[] } = {},
): void {
  mountHandler(app, 'GET', 'health', '/health', (_request, reply) => sendJson(reply, 200, '{"status":"ok"}'))
  mountHandler(app, 'GET', 'ready', '/ready', async (_request, reply) => {
    const ready = await isReady()
    const lead = schema?.()
    const gone = away?.() ?? []
    const status = {
      status: ready ? 'ready' : 'not ready',
      ...(lead !== undefined && lead.ahead > 0 && { database_schema_version: lead.version }),
      ...(gone.length > 0 && { registries_away: gone }),
    }
    sendJson(reply, ready ? 200 : 503, JSON.stringify(status))
  })
}

/** Adds the page of metrics. The page is for the operator's listener, and is answered only under that listener's host names. */
export function addMetricsRoute(app: HttpServer, metrics: Pick<Metrics, 'render'>, isOwnHost: IsOperatorListenerHost): void {
  mountHandler(app, 'GET', 'metrics', '/metrics', async ({ raw }, reply) => {
    checkOperatorHost(isOwnHost, raw)
    const { contentType, text } = await metrics.render()
    sendBody(reply, 200, text, { 'Content-Type': contentType })
  })
}

export const KEY_SET_PATH = '/.well-known/jwks.json'

/** Peers may cache the key set for 300 seconds. We should publish a new key 600 seconds before we sign with it. */
const KEY_SET_HEADERS = { 'Cache-Control': 'public, max-age=300' }

/**
 * Adds the routes of our public keys, for peers that verify our signatures or encrypt for us (public standard 1.5). All
 * registries of a server share its keys. If a registry has `qualified_kids`, the key set of its namespace has each signature key
 * a second time, with the kid `sender_id|kid|algorithm`.
 */
export function addKeySetRoutes(app: HttpServer, deps: HasDirectory & { readonly keys: Pick<OwnKeys, 'jwks'> }): void {
  const answer = async (reply: FastifyReply, registry?: Registry): Promise<void> => {
    const set = await deps.keys.jwks(registry?.qualified_kids === true ? registry.sender_id : undefined)
    // The type application/jwk-set+json is not used, because peers do not expect it.
    sendJson(reply, 200, JSON.stringify(set), KEY_SET_HEADERS)
  }
  mountHandler(app, 'GET', 'jwks', KEY_SET_PATH, (_request, reply) => answer(reply))
  mountHandler(app, 'GET', 'jwks', `/:namespace${KEY_SET_PATH}`, async (request, reply) =>
    answer(reply, await requireRegistryOfPath(deps, request)),
  )
}
