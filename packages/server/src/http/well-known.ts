/** Our public keys, for whoever verifies what we sign or encrypts for us (N14, public standard 1.5). */
import type { FastifyReply } from 'fastify'
import type { Context } from '../context.ts'
import { sendJson } from './answer.ts'
import { registryOf } from './protocol-routes.ts'
import { type HttpServer, mount } from './server.ts'

const PATH = '/.well-known/jwks.json'

/** Half of what a peer may remember it for anyway, so that a new key is known everywhere before it signs. */
const HEADERS = { 'Cache-Control': 'public, max-age=300' }

/** The registries of a server share its keys: the set is the same below each namespace. */
export function addWellKnownRoutes(app: HttpServer, context: Context): void {
  const answer = async (reply: FastifyReply): Promise<void> => {
    // Not application/jwk-set+json, which peers do not expect.
    sendJson(reply, 200, JSON.stringify(await context.keys.jwks()), HEADERS)
  }
  mount(app, 'GET', 'jwks', PATH, (_request, reply) => answer(reply))
  mount(app, 'GET', 'jwks', `/:namespace${PATH}`, async (request, reply) => {
    await registryOf(context, request)
    await answer(reply)
  })
}
