/** A participant's server that publishes a key set, on loopback, and what the operator allows so that it is reached. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { KeySetOwner } from '@rollcall/participants/trust/key-sets'
import { connectionsTo } from './connections.ts'

export interface KeySetServer {
  /** Publishes an object as JSON, or a whole answer. */
  publish(content: object | RequestListener): void
  /** Requests until now. */
  readonly asked: number
  /** Connections until now. */
  connected(): Promise<number>
  /** A participant whose key set this is. */
  owner(id: number, changes?: Partial<KeySetOwner>): KeySetOwner
  close(): Promise<void>
}

const LOOPBACK = { host: '127.0.0.1', ports: 'any', plainHttp: true, loopback: true } as const

export async function keySetServer(): Promise<KeySetServer> {
  let answer: RequestListener = (_request, response) => response.writeHead(404).end()
  const counts = { asked: 0 }
  const server = createServer((request, response) => {
    counts.asked += 1
    answer(request, response)
  })
  const { seen } = connectionsTo(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const jwks_uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/.well-known/jwks.json`
  return {
    publish(content) {
      answer = typeof content === 'function' ? (content as RequestListener) : json(content)
    },
    get asked() {
      return counts.asked
    },
    connected: seen,
    owner: (id, changes) => ({ id, sender_id: 'a.example', jwks_uri, outgoing: [LOOPBACK], ...changes }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** An answer with this JSON. */
export function json(content: object, type = 'application/jwk-set+json'): RequestListener {
  return (_request, response) => {
    response.writeHead(200, { 'Content-Type': type }).end(JSON.stringify(content))
  }
}
