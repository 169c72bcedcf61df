/** The setting of a bench of searches: a filled registry, one participant, and both servers, each in its process. */
import type { MessagePolicy } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'
import { type BenchDatabase, withBenchDatabase } from '../shared/bench-database.ts'
import { readOptions } from '../shared/options.ts'
import { LOAD } from '../shared/rounds.ts'
import type { ServerProcess } from '../shared/server-process.ts'
import { OTHER_FLOORS, type OtherFloor } from './answers.ts'
import { ASKER_SENDER, NAMESPACE } from './question.ts'
import { credentialsOf, filledRegistry, shuffledIdentifiers } from './registry.ts'

/** Identifiers to search for, each of one record, without an end. */
export type Identifiers = Generator<string, never>

/** A server that takes searches. */
export interface Target {
  readonly url: string
  readonly process: ServerProcess
  /** Headers for the next round. */
  headers(): Promise<Record<string, string>>
}

export interface Setting {
  readonly db: Database
  readonly plan: Readonly<Record<keyof typeof LOAD | 'records', number>>
  /** Undefined: the floor whose entry is in a commit of its own. */
  readonly otherFloor: OtherFloor | undefined
  readonly identifiers: Identifiers
  readonly rollcall: Target
  readonly start: BenchDatabase['start']
}

export const JSON_BODY = { 'Content-Type': 'application/json' }

/** Sets up what the command line asks for, and takes all of it down when `use` is done. */
export function withSetting<Result>(
  args: readonly string[],
  policy: Partial<MessagePolicy>,
  use: (setting: Setting) => Promise<Result>,
): Promise<Result> {
  const options = { 'plain-floor': { type: 'boolean' }, 'one-commit-floor': { type: 'boolean' } } as const
  const { plan, place, values } = readOptions(args, { ...LOAD, records: [1_000_000, 50] }, options)
  return withBenchDatabase(place, async ({ db, start }) => {
    const registry = await filledRegistry(db, plan.records)
    const identifiers = endless(await shuffledIdentifiers(db, registry))
    const credentials = await credentialsOf(db, ASKER_SENDER, policy)
    const process = await start('servers/rollcall')
    const rollcall = {
      url: `${process.url}/${NAMESPACE}/v1.0.0/registry/sync/search`,
      process,
      headers: async () => ({ ...JSON_BODY, Authorization: await authorization(process, credentials) }),
    }
    const otherFloor = OTHER_FLOORS.find((floor) => values[`${floor}-floor`] === true)
    return await use({ db, plan, otherFloor, identifiers, rollcall, start })
  })
}

/** All of them in turns, for ever. */
export function* endless<Value>(values: readonly Value[]): Generator<Value, never> {
  if (values.length === 0) throw new Error('the registry holds nothing to search for')
  for (;;) yield* values
}

/** A new token for every round: none expires in a long run. */
export async function authorization(server: ServerProcess, credentials: string): Promise<string> {
  const response = await fetch(`${server.url}/oauth2/client/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${credentials}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  if (!response.ok) throw new Error(`no access token: status ${response.status}`)
  const { access_token } = (await response.json()) as { access_token: string }
  return `Bearer ${access_token}`
}
