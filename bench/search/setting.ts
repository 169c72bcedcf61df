/** What a bench of searches stands on: a filled registry, one who asks, and both servers, each in its process. */
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Database, migrate, openStorage, readConfig, type SealPolicy } from '@rollcall/server'
import { wholeNumber } from '../shared/options.ts'
import { serverEnvironment, temporaryDirectory } from '../shared/place.ts'
import type { Plan } from '../shared/rounds.ts'
import { type ServerProcess, startServerProcess } from '../shared/server-process.ts'
import { NAMESPACE } from './question.ts'
import { askerCredentials, filledRegistry, shuffledIdentifiers } from './registry.ts'

const OPTIONS = {
  records: { type: 'string', default: '1000000' },
  seconds: { type: 'string', default: '3' },
  rounds: { type: 'string', default: '15' },
  connections: { type: 'string', default: '32' },
  data: { type: 'string' },
  'database-url': { type: 'string' },
  'cpu-prof': { type: 'string' },
} as const

/** Identifiers to search for, each of one record, without an end. */
export type Identifiers = Generator<string, never>

/** A server that takes searches. */
export interface Target {
  readonly url: string
  readonly process: ServerProcess
  /** Of the next round. */
  headers(): Promise<Record<string, string>>
}

export interface Setting {
  readonly db: Database
  readonly plan: Plan & { readonly records: number }
  readonly identifiers: Identifiers
  readonly rollcall: Target
  /** Starts a floor, a module of `floors/`, with more in its environment. */
  startFloor(module: string, more: NodeJS.ProcessEnv): Promise<ServerProcess>
}

export const JSON_BODY = { 'Content-Type': 'application/json' }

/** Sets up what the command line asks for, and takes all of it down when `use` is done. */
export async function withSetting<Result>(
  args: readonly string[],
  policy: Partial<SealPolicy>,
  use: (setting: Setting) => Promise<Result>,
): Promise<Result> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const plan = {
    records: wholeNumber('records', values.records),
    seconds: wholeNumber('seconds', values.seconds),
    rounds: wholeNumber('rounds', values.rounds),
    connections: wholeNumber('connections', values.connections),
  }
  const temporary = values.data === undefined ? await temporaryDirectory() : undefined
  const env = serverEnvironment(values.data ?? temporary ?? '', values['database-url'])
  const storage = await openStorage({
    ...readConfig(env),
    limits: { ...readConfig(env).limits, statement_timeout: 0 },
  })
  const started: ServerProcess[] = []
  const profile = values['cpu-prof']
  const execArgv = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`]
  const start = async (module: string, more: NodeJS.ProcessEnv = {}): Promise<ServerProcess> => {
    const path = fileURLToPath(new URL(module, new URL('../', import.meta.url)))
    const server = await startServerProcess(path, { env: { ...env, ...more }, execArgv })
    started.push(server)
    return server
  }
  const { db } = storage
  try {
    await migrate(db)
    const registry = await filledRegistry(db, plan.records)
    const identifiers = endless(await shuffledIdentifiers(db, registry))
    const credentials = await askerCredentials(db, policy)
    const process = await start('servers/rollcall.ts')
    const rollcall = {
      url: `${process.url}/${NAMESPACE}/v1.0.0/registry/sync/search`,
      process,
      headers: async () => ({ ...JSON_BODY, Authorization: await authorization(process, credentials) }),
    }
    const startFloor = (module: string, more: NodeJS.ProcessEnv) => start(`floors/${module}`, more)
    return await use({ db, plan, identifiers, rollcall, startFloor })
  } finally {
    await Promise.all(started.map((server) => server.stop()))
    await storage.close()
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
  }
}

/** All of them in turns, for ever. */
export function* endless<Value>(values: readonly Value[]): Generator<Value, never> {
  if (values.length === 0) throw new Error('the registry holds nothing to search for')
  for (;;) yield* values
}

/** A new token for every round: none expires in a long run. */
async function authorization(server: ServerProcess, credentials: string): Promise<string> {
  const response = await fetch(`${server.url}/oauth2/client/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${credentials}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  if (!response.ok) throw new Error(`no access token: status ${response.status}`)
  const { access_token } = (await response.json()) as { access_token: string }
  return `Bearer ${access_token}`
}
