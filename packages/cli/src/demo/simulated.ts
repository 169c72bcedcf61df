/** The program of the demo's simulation: publishes events and sends searches to its registries, until its standard input ends. */
import { setTimeout as sleep } from 'node:timers/promises'
import { identifier, RegistryClient } from '@rollcall/client'
import { type LifeEvent, lifeOf } from '@rollcall/synthetic'
import { readDemoFile } from '../asking/demo.ts'
import { readRegistryTarget } from '../asking/target.ts'
import { DEMO_RECORD_COUNT, PEOPLE_SEED } from '../synthetic-people.ts'
import type { DemoFile, DemoRegistry } from './demo-file.ts'

/** Milliseconds between two acts of the simulation: a published event, or a search. */
const SIMULATION_PAUSE_MS = 300
/** Seconds that the simulation waits for an answer. */
const ANSWER_TIMEOUT_SECONDS = 10

process.stdin.once('end', () => process.exit()).resume()

interface SimulationTarget {
  readonly registry: DemoRegistry
  readonly client: RegistryClient
  readonly life: Iterator<LifeEvent>
}

const demo = await readDemoFile()
if (demo !== null) await simulate(demo)

async function simulate({ admin, registries }: DemoFile): Promise<void> {
  const all = await Promise.all(registries.map(makeSimulationTarget))
  const asked = ({ samples }: DemoRegistry, number: number) => {
    const { identifier_type = '', identifier_value = '' } = samples[number % samples.length] ?? {}
    return identifier(identifier_type, identifier_value)
  }
  const simulatedActions: readonly ((one: SimulationTarget, number: number) => Promise<unknown>)[] = [
    async ({ registry, life }) => {
      const { done, value } = life.next()
      if (done !== true) await postEvent(admin, registry, value)
    },
    ({ registry, client }, number) => client.search(asked(registry, number)),
    ({ registry, client }, number) => client.searchAsync(asked(registry, number)),
  ]
  for (let number = 0; ; number++) {
    const one = all[number % all.length]
    // First each registry gets an event, then each gets a search, then each an asynchronous search; then it begins again.
    const act = simulatedActions[Math.floor(number / all.length) % simulatedActions.length]
    // Users of the demo may change permissions. The console shows the refusals that follow.
    if (one !== undefined) await act?.(one, number).catch(() => undefined)
    await sleep(SIMULATION_PAUSE_MS)
  }
}

async function makeSimulationTarget(registry: DemoRegistry): Promise<SimulationTarget> {
  const { client } = await readRegistryTarget({ registry: registry.namespace, timeout: ANSWER_TIMEOUT_SECONDS })
  const today = (): string => new Date().toISOString().slice(0, 10)
  const people = { seed: PEOPLE_SEED, count: DEMO_RECORD_COUNT }
  const life = lifeOf(registry.kind, { seed: crypto.randomUUID(), people, today })
  return { registry, client: new RegistryClient(client), life: life[Symbol.iterator]() }
}

function postEvent({ base_url, token }: DemoFile['admin'], { namespace }: DemoRegistry, event: LifeEvent): Promise<Response> {
  return fetch(`${base_url}/admin/v1/registries/${namespace}/events`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(event),
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_SECONDS * 1_000),
  })
}
