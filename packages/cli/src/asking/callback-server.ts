/** A listener for callbacks in this process. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeListener } from '@rollcall/client/node'
import { CommandError } from '../failure.ts'

export interface CallbackServer {
  readonly url: string
  /** Finishes what is being answered and takes nothing more. */
  close(): Promise<void>
}

export interface ListenAt {
  readonly host: string
  readonly port: number
}

/** Milliseconds for which a peer may take its time to end a request that is under way. */
const PATIENCE = 10_000

const PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken by another program; choose another',
  EACCES: 'is not for this user to listen on; choose another',
}

/** @throws CommandError an address or a port that cannot be listened on */
export async function listenForCallbacks(
  { host, port }: ListenAt,
  handle: (request: Request) => Promise<Response>,
): Promise<CallbackServer> {
  const server = createServer(nodeListener({ handle }))
  server.listen(port, host)
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const problem = PROBLEMS[error.code ?? '']
    if (problem !== undefined) throw new CommandError(`port ${port} ${problem}`)
    throw new CommandError(`${host} is no address of this machine (${error.code})`)
  })
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      // A connection that is kept open after its answer must not keep us.
      const sweep = setInterval(() => server.closeIdleConnections(), 20)
      const end = setTimeout(() => server.closeAllConnections(), PATIENCE)
      await closed
      clearInterval(sweep)
      clearTimeout(end)
    },
  }
}

const LOOPBACK = ['127.0.0.1', 'localhost', '::1']

/** Whoever listens beyond this machine is told that plain HTTP is read on the way. */
export function warnOfOpenHost(host: string): void {
  if (LOOPBACK.includes(host)) return
  process.stderr.write(
    `rollcall: ${host} is reached from other machines in plain HTTP: put a proxy that speaks TLS before it\n`,
  )
}
