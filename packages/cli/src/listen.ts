/** Checks the addresses of the server, and starts it. An error of an address names the variable to change. */
import { createServer } from 'node:net'
import type { Database } from '@rollcall/database/database'
import { createLog, type Log } from '@rollcall/observe/log'
import type { ListenerName, RunningServer } from '@rollcall/server/app/serve'
import type { Config } from '@rollcall/settings/config'
import { CommandError } from './failure.ts'
import { makeSampleRecords } from './synthetic-people.ts'

interface ListenerDescription {
  /** The environment variables that set the host and the port of the listener. */
  readonly variables: { readonly host: string; readonly port: string }
  /** The advice when the port cannot be used: the setting to change. */
  readonly advice: string
  readonly address: (config: Config) => { readonly host: string; readonly port: number }
}

const LISTENERS: Readonly<Record<ListenerName, ListenerDescription>> = {
  peers: {
    variables: { host: 'HOST', port: 'PORT' },
    advice: 'set PORT to another',
    address: ({ host, port }) => ({ host, port }),
  },
  operator: {
    variables: { host: 'ADMIN_HOST', port: 'ADMIN_PORT' },
    advice: 'set ADMIN_PORT (PORT + 1 unless set) to another',
    address: ({ adminHost, adminPort }) => ({ host: adminHost, port: adminPort }),
  },
}

/**
 * Checks the configured addresses by listening on them briefly. Commands call it before they open the database: when an address
 * cannot be used, no new database is made.
 * @throws CommandError an address or a port that cannot be listened on
 */
export async function refuseTakenPorts(config: Config): Promise<void> {
  const names: readonly ListenerName[] = config.role === 'worker' ? ['operator'] : ['peers', 'operator']
  const { host, port, adminHost, adminPort } = config
  if (names.length > 1 && host === adminHost && port === adminPort && port !== 0) {
    throw new CommandError(`PORT and ADMIN_PORT are both ${port}: set one of them to another`)
  }
  for (const name of names) {
    await tryListening(LISTENERS[name].address(config)).catch((error: unknown) => {
      throw explainListenError(error, name, config)
    })
  }
}

function tryListening(address: { readonly host: string; readonly port: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const server = createServer().once('error', reject)
  server.listen(address, () => server.close(() => resolve()))
  return promise
}

/** Starts the server. @throws CommandError an address or a port cannot be listened on */
export async function startListening(
  config: Config,
  db: Database,
): Promise<{ readonly server: RunningServer; readonly log: Log }> {
  // The server is loaded only here: help, and a start that is refused, do not wait for it.
  const { createContext } = await import('@rollcall/server/app/context')
  const { ListenFailed, startServer } = await import('@rollcall/server/app/serve')
  const log = createLog({ level: config.logLevel })
  try {
    return { server: await startServer(config, await createContext(config, db, { log, samples: makeSampleRecords })), log }
  } catch (error) {
    throw error instanceof ListenFailed ? explainListenError(error.cause, error.listener, config) : error
  }
}

/** Why listening fails, by error code: the problem, and the part of the address that has it. */
const ADDRESS_PROBLEMS: Readonly<Record<string, { readonly problem: string; readonly part: 'host' | 'port' }>> = {
  EADDRINUSE: { problem: 'is taken by another program, perhaps another Rollcall', part: 'port' },
  EACCES: { problem: 'needs rights that this user does not have', part: 'port' },
  EADDRNOTAVAIL: { problem: 'is not an address of this machine', part: 'host' },
  ENOTFOUND: { problem: 'is not the name of an address', part: 'host' },
  EAI_AGAIN: { problem: 'cannot be resolved to an address now', part: 'host' },
}

function explainListenError(error: unknown, name: ListenerName, config: Config): unknown {
  const row = error instanceof Error && 'code' in error ? ADDRESS_PROBLEMS[String(error.code)] : undefined
  if (row === undefined) return error
  const { variables, advice, address } = LISTENERS[name]
  const { host, port } = address(config)
  if (row.part === 'host') return new CommandError(`${variables.host} ${host} ${row.problem}`)
  return new CommandError(`${variables.port} ${port} on ${host} ${row.problem}; ${advice}`)
}
