/** The floor of a node without work: a bare Fastify that listens. */
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { serveAsChild } from '../shared/server-process.ts'

await serveAsChild(async () => {
  const server = fastify()
  await server.listen({ port: 0, host: '127.0.0.1' })
  return { port: (server.server.address() as AddressInfo).port, stop: () => server.close() }
})
