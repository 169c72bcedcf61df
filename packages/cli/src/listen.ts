/** Starting the listeners, with errors that say which variable helps. */
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

/** @throws CommandError an address or a port that cannot be listened on */
export async function startListening(
  config: Config,
  db: Database,
): Promise<{ readonly server: RunningServer; readonly log: Log }> {
  const log = createLog({ level: config.logLevel })
  try {
    return { server: await startServer(config, await createContext(config, db, { log })), log }
  } catch (error) {
    const problem = listenProblem(error, config)
    if (problem === null) throw error
    throw new CommandError(problem)
  }
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
