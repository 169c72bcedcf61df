/** `rollcall trace`: what became of a message, from its arrival to the last attempt at its answer. */
import { type Traced, type TracedDelivery, type TracedExchange, trace } from '@rollcall/server'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { storyOf } from '../tracing/story.ts'
import { isAsynchronous, storyText } from '../tracing/story-text.ts'
import { wholeNumber } from '../values.ts'

export function addCommand(program: Command): void {
  withJson(program.command('trace'))
    .description(
      'print what happened to a message: received, worked on, answered, and every attempt to deliver it',
    )
    .argument('<id>', 'a transaction_id, a correlation_id, or a message_id of theirs or ours')
    .option('--limit <number>', 'print at most this many messages', wholeNumber(1, 1_000), 20)
    .option('--full', `show all items and deliveries of each, not only the first ${EACH}`)
    .addHelpText(
      'after',
      `
Where several messages have this id, all are printed, the oldest first. It does not print what was asked and
answered, and prints addresses without their paths. --json prints a list of them, each with its events.

Exit codes: 0 found, 1 no message has this id, or none any more.

Example: rollcall trace 5f0c2b7e-0d52-4c6e-9a54-30c1f2d9a002`,
    )
    .action(runTrace)
}

/** Items and deliveries of one exchange that fit a screen or two. */
const EACH = 100
const ALL = 2_147_483_647

interface TraceOptions extends OutputOptions {
  readonly limit: number
  readonly full?: true
}

async function runTrace(id: string, { limit, full, ...options }: TraceOptions): Promise<void> {
  stopRequest()
  const bounds = { found: limit + 1, each: full ? ALL : EACH }
  const found = await withDatabase(({ db }) => trace(db, id, bounds))
  if (found.length === 0)
    throw new CommandError(
      'there is no message with this id; the oldest are deleted after ROLLCALL_EXCHANGE_RETENTION seconds',
    )
  const now = new Date()
  const told = found.slice(0, limit).map((traced) => ({ traced, events: storyOf(traced, now) }))
  const more = found.length > limit ? '\n\nthere are more; --limit shows them' : ''
  print(
    options,
    told.map(({ traced, events }) => ({ ...facts(traced), events })),
    told.map(({ traced, events }) => storyText(traced, events)).join('\n\n') + more,
  )
}

/** For machines: what stands beside the events. */
function facts(traced: Traced): object {
  if (traced.traced === 'callback') {
    const { received_at: _, ...callback } = traced
    return callback
  }
  const { accepted, answered: _, deliveries, delivery_states, breaker, received_at: __, ...exchange } = traced
  const pending = delivery_states.pending !== undefined
  return {
    ...exchange,
    ...stateOf(traced),
    encrypted: accepted?.encrypted ?? null,
    items_requested: accepted?.items ?? null,
    delivery_states,
    deliveries: deliveries.map(deliveryFacts),
    // Of what is over it says nothing.
    breaker: pending ? breaker : null,
  }
}

/** Its times are in the events. */
const deliveryFacts = ({ id, callback, page, message_id, state, attempts, reason }: TracedDelivery) => ({
  ...{ id, callback, page, message_id, state, attempts, reason },
})

const stateOf = (traced: TracedExchange) => ({
  road: isAsynchronous(traced) ? 'asynchronous' : 'synchronous',
  state: traced.accepted?.state ?? null,
})
