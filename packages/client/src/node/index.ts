/** Connects HTTP servers of Node to a Receiver. */
export { expressReceiver } from './express.ts'
export { type FastifyLike, fastifyReceiver } from './fastify.ts'
export { nodeListener, type RequestHandler } from './listener.ts'
