/** The connections that came to a server, counted without waiting for those that do not come. */
import { once } from 'node:events'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'vitest'

export interface Connections {
  /** The number of connections since the server was given. It connects once itself, so that earlier connections were seen. */
  seen(): Promise<number>
}

/** Turns of the event loop in which a request that is under way connects, if it does. */
const TURNS = 20

export function connectionsTo(server: Server): Connections {
  const ports: number[] = []
  const own = new Set<number>()
  server.on('connection', ({ remotePort = 0 }: Socket) => ports.push(remotePort))
  return {
    async seen() {
      for (let turns = 0; turns < TURNS; turns += 1) await turn()
      const { address, port } = server.address() as AddressInfo
      const last = connect(port, address)
      await once(last, 'connect')
      const { localPort = 0 } = last
      await expect.poll(() => ports.includes(localPort), { interval: 1 }).toBe(true)
      last.destroy()
      own.add(localPort)
      return ports.filter((other) => !own.has(other)).length
    },
  }
}
