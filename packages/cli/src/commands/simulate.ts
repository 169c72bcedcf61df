/** `rollcall simulate`: a registry of the demo lives. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type JsonObject, kindNamed } from '@rollcall/protocol'
import { publishEvent } from '@rollcall/server/admin/events'
import { listRegistries } from '@rollcall/server/admin/registries'
import { type LifeEvent, lifeOf, withIdentifierTypes } from '@rollcall/synthetic'
import type { Command } from 'commander'
import { counted } from '../asking/summary.ts'
import { DEMO_PEOPLE } from '../demo/directory.ts'
import { type Needs, withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { type OutputOptions, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { limit, wholeNumber } from '../values.ts'

export function addCommand(program: Command): void {
  withJson(program.command('simulate'))
    .description(
      "make a demo's registry live: births, deaths and marriages, or enrolments and suspensions, as events",
    )
    .argument('<namespace>', 'namespace of the registry')
    .option('--rate <events>', 'events a second, or unlimited', limit({ whole: false }), 1)
    .option('--count <events>', 'end after so many events (default: at Ctrl-C)', wholeNumber(1))
    .option('--seed <text>', 'what happens: the same seed gives the same events (default: another each time)')
    .addHelpText(
      'after',
      `
What happens depends on the kind of the registry. Each event is published as rollcall publish does it, and is one line
here, with the number of subscriptions that it matched. Made-up people never come among real ones: a registry that was
not made for a demo is refused.

Example: rollcall simulate civil --rate 20 --count 100`,
    )
    .action(runSimulate)
}

interface SimulateOptions extends OutputOptions {
  readonly rate: number
  readonly count?: number
  readonly seed?: string
}

async function runSimulate(namespace: string, options: SimulateOptions): Promise<void> {
  const { signal } = stopRequest()
  const { count = Number.POSITIVE_INFINITY, seed = crypto.randomUUID(), rate, json } = options
  const done = await withDatabase(async (needs) => {
    const { kind, primary_identifiers } = await demoRegistry(needs, namespace)
    const names = renamedPrimaries(kind, primary_identifiers)
    const today = (): string => new Date().toISOString().slice(0, 10)
    const life = lifeOf(kind, { seed, people: DEMO_PEOPLE, today })
    let published = 0
    for await (const event of paced(life, rate, signal)) {
      const result = await publishEvent(limitsOf(needs), {
        ...{ namespace, reg_event_type: event.reg_event_type },
        record: withIdentifierTypes(event.record, names) as JsonObject,
      })
      published += 1
      process.stdout.write(json ? `${JSON.stringify({ ...event, ...result })}\n` : lineOf(event, result))
      if (published === count) break
    }
    return published
  })
  if (!json) process.stdout.write(`${counted(done, 'event')} in all\n`)
}

const limitsOf = ({ db, config: { limits } }: Needs) => ({ db, limits })

/** @throws CommandError */
async function demoRegistry(needs: Needs, namespace: string): Promise<RegistryRow> {
  const registry = (await listRegistries(needs, {})).find((row) => row.namespace === namespace)
  if (registry === undefined) throw new CommandError(`there is no registry at ${namespace}`)
  if (registry.demo) return registry
  throw new CommandError(
    `the registry ${namespace} was not made for a demo: made-up people never come among real ones`,
  )
}

type RegistryRow = Awaited<ReturnType<typeof listRegistries>>[number]

/** By the primary identifier of each record type of the kind, the one that the registry has instead. */
function renamedPrimaries(
  kind: string,
  primaries: RegistryRow['primary_identifiers'],
): Readonly<Record<string, string>> {
  const types = kindNamed(kind)?.record_types ?? []
  return Object.fromEntries(
    types.map(({ name, primary_identifier }) => [primary_identifier, primaries[name] ?? primary_identifier]),
  )
}

/** The events at their times: so many a second from the first on; those that are late follow at once. */
async function* paced(
  events: Iterable<LifeEvent>,
  rate: number,
  signal: AbortSignal,
): AsyncGenerator<LifeEvent> {
  const begin = performance.now()
  let number = 0
  for (const event of events) {
    const due = begin + (number++ * 1_000) / rate - performance.now()
    if (due > 0) await sleep(due, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    yield event
  }
}

const lineOf = (
  { reg_event_type }: LifeEvent,
  { id, matched }: { readonly id: number; readonly matched: number },
): string => `${reg_event_type}, event ${id}: ${counted(matched, 'subscription')} matched\n`
