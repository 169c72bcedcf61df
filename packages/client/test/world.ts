/** A client beside its loopback registry, for tests. */
import { afterEach } from 'vitest'
import { type ClientOptions, identifier, RegistryClient } from '../src/index.ts'
import { type Loopback, loopback, type Respond } from './loopback.ts'

export const ADA = identifier('UIN', '0012')
/** Pauses that a test can wait for. */
export const QUICK = { first_pause: 5, longest_pause: 20 }

/** The registry that was made last. */
export let registry: Loopback
const open: Loopback[] = []

/** A client of a new registry, which is closed after the test. */
export async function client(
  script: readonly Respond[],
  options: Partial<ClientOptions> = {},
  tokens?: Respond,
): Promise<RegistryClient> {
  registry = await loopback(script, tokens)
  open.push(registry)
  return new RegistryClient({
    base_url: registry.base_url,
    sender_id: 'sp.example',
    credentials: { client_id: 'id', client_secret: 'secret' },
    peer: { signature: 'off' },
    retry: QUICK,
    ...options,
  })
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

/** The error with which a promise rejects. */
export const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'nothing failed',
    (error: unknown) => error,
  )

/** Everything that a loop would see. */
export async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const seen: Value[] = []
  for await (const value of values) seen.push(value)
  return seen
}
