/** Starting the listeners, with errors that say which variable helps. */
import { createServer } from 'node:net'
import {
  type Config,
  createContext,
  createLog,
  type Database,
  type Log,
  type RunningServer,
  startServer,
} from '@rollcall/server'
import { CommandError } from './failure.ts'

/**
 * Listens on the configured addresses for a moment, before anything is made or changed: a start that must fail leaves no
 * new database behind.
 * @throws CommandError an address or a port that cannot be listened on
 */
export async function refuseTakenPorts(config: Config): Promise<void> {
  const operator = { host: config.adminHost, port: config.adminPort }
  const peers = config.role === 'worker' ? [] : [{ host: config.host, port: config.port }]
  for (const address of [operator, ...peers]) {
    await probe(address).catch((error: unknown) => {
      throw inWords(error, config)
    })
  }
}

function probe(address: { readonly host: string; readonly port: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const server = createServer().once('error', reject)
  server.listen(address, () => server.close(() => resolve()))
  return promise
}

/** @throws CommandError an address or a port that cannot be listened on */
export async function startListening(
  config: Config,
  db: Database,
): Promise<{ readonly server: RunningServer; readonly log: Log }> {
  const log = createLog({ level: config.logLevel })
  try {
    return { server: await startServer(config, await createContext(config, db, { log })), log }
  } catch (error) {
    throw inWords(error, config)
  }
}

function inWords(error: unknown, config: Config): unknown {
  const problem = listenProblem(error, config)
  return problem === null ? error : new CommandError(problem)
}

/** Codes of failed listens: what is wrong, and which part of the address it is wrong with. */
const PROBLEMS: Readonly<Record<string, { readonly problem: string; readonly part: 'host' | 'port' }>> = {
  EADDRINUSE: { problem: 'is taken by another program, perhaps another Rollcall', part: 'port' },
  EACCES: { problem: 'is not for this user to listen on', part: 'port' },
  EADDRNOTAVAIL: { problem: 'is no address of this machine', part: 'host' },
  ENOTFOUND: { problem: 'is not the name of an address', part: 'host' },
  EAI_AGAIN: { problem: 'cannot be resolved to an address now', part: 'host' },
}

function listenProblem(error: unknown, config: Config): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  const row = PROBLEMS[String(error.code)]
  if (row === undefined || !('syscall' in error)) return null
  if (row.part === 'host') return `HOST ${config.host} or ADMIN_HOST ${config.adminHost} ${row.problem}`
  const port = 'port' in error ? error.port : undefined
  const listener =
    port === config.port
      ? { name: 'port', host: config.host, advice: 'set PORT to another' }
      : {
          name: "operator's port",
          host: config.adminHost,
          advice: 'set PORT or ADMIN_PORT (PORT + 1 unless set) to another',
        }
  return `${listener.name} ${port} on ${listener.host} ${row.problem}; ${listener.advice}`
}
