/** `rollcall simulate`: publishes events of synthetic people in a sandbox registry, or in one of the demo. */
import { setTimeout as sleep } from 'node:timers/promises'
import { publishEvent } from '@rollcall/admin/events/publish'
import { listRegistries } from '@rollcall/admin/registries/registries'
import { nearestNameHint } from '@rollcall/base/shared/message-words'
import type { JsonObject } from '@rollcall/protocol'
import { type LifeEvent, lifeOf, withIdentifierTypes } from '@rollcall/synthetic'
import type { Command } from 'commander'
import { type CommandDeps, withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { countWithNoun, type OutputOptions, withJsonOption, writeOutput } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { DEMO_RECORD_COUNT, PEOPLE_SEED, renamedPrimaryIdentifiers } from '../synthetic-people.ts'
import { limitValueReader, wholeNumberReader } from '../values.ts'

export function addCommand(program: Command): void {
  withJsonOption(program.command('simulate'))
    .description('make a sandbox registry live: births, deaths and marriages, or enrolments and suspensions, as events')
    .argument('<namespace>', 'namespace of the registry')
    .option('--rate <events>', 'events a second, or unlimited', limitValueReader({ whole: false }), 1)
    .option('--count <events>', 'end after so many events (default: at Ctrl-C, or when nobody is left)', wholeNumberReader(1))
    .option('--seed <text>', 'what happens: the same seed gives the same events (default: another each time)')
    .addHelpText(
      'after',
      `
What happens depends on the kind of the registry. Each event is published as rollcall publish does it, and is one line
here, with the number of subscriptions that it matched. Synthetic people never come among real ones: a live registry is
refused, except in the database of a demo. rollcall registry add --sandbox makes a sandbox registry.

Example: rollcall simulate civil-test --rate 20 --count 100`,
    )
    .action(runSimulate)
}

interface SimulateOptions extends OutputOptions {
  readonly rate: number
  readonly count?: number
  readonly seed?: string
}

async function runSimulate(namespace: string, options: SimulateOptions): Promise<void> {
  const { signal } = listenForStop()
  const { count = Number.POSITIVE_INFINITY, seed = crypto.randomUUID(), rate, json } = options
  const done = await withDatabase(async (deps) => {
    const { kind, records, primary_identifiers } = await requireSimulatedRegistry(deps, namespace)
    const names = renamedPrimaryIdentifiers(kind, primary_identifiers)
    const today = (): string => new Date().toISOString().slice(0, 10)
    const storedRecordCount = Object.values(records).reduce((sum, count) => sum + count, 0)
    // Few people soon have no more events. So at least DEMO_RECORD_COUNT people have events, also some whom the registry lacks.
    const people = { seed: PEOPLE_SEED, count: Math.max(storedRecordCount, DEMO_RECORD_COUNT) }
    const life = lifeOf(kind, { seed, people, today })
    let published = 0
    for await (const event of paceEvents(life, rate, signal)) {
      const result = await publishEvent(deps, {
        namespace,
        reg_event_type: event.reg_event_type,
        record: withIdentifierTypes(event.record, names) as JsonObject,
      })
      published += 1
      await writeOutput(json ? `${JSON.stringify({ ...event, ...result })}\n` : eventLine(event, result))
      if (published === count) break
    }
    return published
  })
  if (!json) process.stdout.write(`${countWithNoun(done, 'event')} in all\n`)
}

/**
 * Finds a registry of a demo or a sandbox registry.
 * @throws CommandError the namespace has no registry, or a live registry outside of a demo
 */
async function requireSimulatedRegistry(deps: CommandDeps, namespace: string): Promise<RegistryRow> {
  const registries = await listRegistries(deps, {})
  const registry = registries.find((row) => row.namespace === namespace)
  if (registry === undefined) {
    const names = registries.map((row) => row.namespace)
    throw new CommandError(`there is no registry at ${namespace}${nearestNameHint(namespace, names)}`)
  }
  if (!registry.demo && registry.environment !== 'sandbox') {
    throw new CommandError(
      `the registry ${namespace} is live: synthetic people never come among real ones; make a sandbox registry with rollcall registry add ${registry.kind} --sandbox`,
    )
  }
  return registry
}

type RegistryRow = Awaited<ReturnType<typeof listRegistries>>[number]

/** Yields `rate` events per second until `signal` is aborted. If the consumer was slow, overdue events follow without a pause. */
async function* paceEvents(events: Iterable<LifeEvent>, rate: number, signal: AbortSignal): AsyncGenerator<LifeEvent> {
  const begin = performance.now()
  let number = 0
  for (const event of events) {
    const due = begin + (number++ * 1_000) / rate - performance.now()
    if (due > 0) await sleep(due, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    yield event
  }
}

const eventLine = ({ reg_event_type }: LifeEvent, { id, matched }: { readonly id: number; readonly matched: number }): string =>
  `${reg_event_type}, event ${id}: ${countWithNoun(matched, 'subscription')} matched\n`
