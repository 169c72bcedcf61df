/** The floor of a node without work: a bare Fastify that listens. */
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { type StartServer, serveAsChild } from '../shared/server-process.ts'

export const start: StartServer = async () => {
  const server = fastify()
  await server.listen({ port: 0, host: '127.0.0.1' })
  return { port: (server.server.address() as AddressInfo).port, stop: () => server.close() }
}

if (import.meta.main) await serveAsChild(start)
