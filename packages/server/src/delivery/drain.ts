/**
 * The `drain` job of a participant: attempts what is due, destination by destination, as many at a time as its
 * settings allow, for a while; then it gives way to the jobs of others and comes again when the next one is due.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import type { Claim, ClaimedDelivery } from '../model/delivery.ts'
import { findBreaker, takeProbes } from '../store/deliveries/breakers.ts'
import { claimDue, ensureDrain, expireDeliveries } from '../store/deliveries/deliveries.ts'
import { findDestinations, nextDue, type WaitingDestination } from '../store/deliveries/destinations.ts'
import type { CallbackSettings } from '../store/directory/participant-callbacks.ts'
import { claimFor, deliver, logUnrecorded, openDelivery } from './deliver.ts'
import { type Place, SLOW } from './lanes.ts'
import { createRound } from './round.ts'
import { wholeSchedule } from './schedule.ts'

/** Milliseconds of a turn. */
const TURN = 10_000
/** Milliseconds that the end of a turn waits for attempts; those that take longer go on by themselves. */
const PATIENCE = 500
/** Milliseconds between two looks at places that others hold. */
const LOOK = 50
/** Milliseconds between two looks at what has become due, while attempts are under way. */
const POLL = 250
/** Destinations in one look. */
const LOOKED_AT = 200
/** Seconds from one turn to the next at least, unless something is due: many destinations are then probed together. */
const BETWEEN_TURNS = 0.25
/** Seconds until the deliveries of a disabled participant are looked at again. */
const DISABLED = 60
const ENDING = { ending: true }

/**
 * Never two of a participant at a time: they have a queue of their own.
 * @param signal begins nothing more when it is aborted; what is under way is finished
 * @param turn milliseconds after which no further attempt is begun
 */
export async function drain(
  context: Context,
  participant: number,
  signal?: AbortSignal,
  turn = TURN,
): Promise<void> {
  const { db } = context
  const found = await context.directory.participantById(participant)
  if (found?.status !== 'active') {
    const waits = found !== null && (await nextDue(db, participant)) !== null
    if (waits) await ensureDrain(db, participant, DISABLED, ENDING)
    return
  }
  await takeTurn(context, participant, await context.callbacks.of(found), { signal, turn })
  const wait = await nextDue(db, participant)
  if (wait === null) return
  await ensureDrain(db, participant, wait === 0 ? 0 : Math.max(wait, BETWEEN_TURNS), ENDING)
}

/**
 * Goes round the destinations that have something due, and gives each a place before any has a second one. One that
 * hangs, or whose breaker is open, so takes its own share and holds up no other.
 */
async function takeTurn(
  context: Context,
  participant: number,
  settings: CallbackSettings,
  { signal, turn }: { readonly signal: AbortSignal | undefined; readonly turn: number },
): Promise<void> {
  const end = performance.now() + turn
  const running = new Set<Promise<void>>()
  let failed: unknown
  let over = false
  const begin = (taken: Taken, claim: Claim): void => {
    const attempting = attempt(context, settings, taken, claim, () => over)
      .catch((error: unknown) => {
        if (over) logUnrecorded(context, error)
        else failed ??= error
      })
      .finally(() => running.delete(attempting))
    running.add(attempting)
  }
  const pause = (milliseconds: number) =>
    Promise.race([...running, sleep(milliseconds, undefined, { ref: false })])
  const round = createRound(LOOKED_AT)
  try {
    while (performance.now() < end && signal?.aborted !== true && failed === undefined) {
      const seen = await look(context, participant, round.from())
      const due = seen.filter(({ wait }) => wait <= 0)
      const claim = claimFor(settings)
      const { taken, served, wait } = await takeDue(context, participant, settings, due, claim)
      for (const one of taken) begin(one, claim)
      const progress = round.looked(seen, due, served)
      if (progress === 'idle' && running.size === 0) break
      if (progress === 'idle') await pause(POLL)
      else if (progress === 'busy' || (served !== undefined && taken.length === 0)) await pause(wait)
    }
  } finally {
    const all = Promise.all(running)
    const wait = signal?.aborted === true || failed !== undefined ? undefined : PATIENCE
    await (wait === undefined ? all : Promise.race([all, sleep(wait, undefined, { ref: false })]))
    over = true
  }
  if (failed !== undefined) throw failed
}

/** Destinations in their order from one on, and then from the first one on. */
async function look(
  { db }: Context,
  participant: number,
  from: string,
): Promise<readonly WaitingDestination[]> {
  const found = await findDestinations(db, participant, from, LOOKED_AT)
  if (from === '' || found.length === LOOKED_AT) return found
  const first = await findDestinations(db, participant, '', LOOKED_AT - found.length)
  return [...found, ...first.filter(({ origin }) => origin < from)]
}

/** A delivery, the place in which it is attempted, and whether it is its destination's probe. */
interface Taken {
  readonly delivery: ClaimedDelivery
  readonly place: Place
  readonly probe: boolean
}

async function attempt(
  context: Context,
  settings: CallbackSettings,
  { delivery, place, probe }: Taken,
  claim: Claim,
  drain: () => boolean,
): Promise<void> {
  const slow = setTimeout(() => place.slow(), SLOW)
  let healthy = false
  try {
    const read = () => openDelivery(context, delivery)
    healthy = await deliver(context, { delivery, claim, read, probe, drain })
  } finally {
    clearTimeout(slow)
    place.leave(healthy ? 'healthy' : 'failing')
  }
  if (probe) await expire(context, settings, delivery)
}

/** While a probe shows that nobody is there, what is past its time is given up. */
async function expire(context: Context, settings: CallbackSettings, to: ClaimedDelivery): Promise<void> {
  const { opened_at } = await findBreaker(context.db, to)
  if (opened_at === null) return
  const schedule = wholeSchedule(settings.schedule ?? context.retrySchedule)
  const expired = await expireDeliveries(context.db, to, schedule)
  for (let count = 0; count < expired; count += 1) context.metrics.deliveryEnded('dead')
}

interface TakenDue {
  readonly taken: readonly Taken[]
  /** The last of the destinations that had a place. */
  readonly served: WaitingDestination | undefined
  /** Milliseconds until it is worth asking for a place again. */
  readonly wait: number
}

/** Takes what is due for as many places as there are; every place for which there is nothing is left again. */
async function takeDue(
  { db, lanes }: Context,
  participant: number,
  settings: CallbackSettings,
  due: readonly WaitingDestination[],
  claim: Claim,
): Promise<TakenDue> {
  const { places, wait } = placesOf(lanes, participant, settings, due)
  const taken: Taken[] = []
  try {
    const open = new Set(due.filter((one) => one.open && places.has(one.origin)).map(({ origin }) => origin))
    const probed = open.size === 0 ? [] : await takeProbes(db, participant, [...open], claim.seconds)
    const wanted = [...places]
      .filter(([origin]) => !open.has(origin) || probed.includes(origin))
      .map(([origin, { length }]) => ({ origin, count: length }))
    if (wanted.length > 0) {
      for (const delivery of await claimDue(db, participant, claim, wanted)) {
        const place = places.get(delivery.origin)?.pop()
        if (place !== undefined) taken.push({ delivery, place, probe: open.has(delivery.origin) })
      }
    }
    return { taken, served: due.findLast(({ origin }) => places.has(origin)), wait }
  } finally {
    for (const place of [...places.values()].flat()) place.leave('unused')
  }
}

/** Places by origin: one for each destination, then a second one, until none is free. A probe is one attempt. */
function placesOf(
  lanes: Context['lanes'],
  participant: number,
  settings: CallbackSettings,
  due: readonly WaitingDestination[],
): { readonly places: ReadonlyMap<string, Place[]>; readonly wait: number } {
  const places = new Map<string, Place[]>()
  let wait = LOOK
  let asking = due
  while (asking.length > 0) {
    asking = asking.filter(({ origin, open }) => {
      const place = lanes.enter({ participant, origin }, settings)
      if (typeof place === 'number') wait = Math.min(place, 1_000)
      if (place === null || typeof place === 'number') return false
      places.set(origin, [...(places.get(origin) ?? []), place])
      return !open
    })
  }
  return { places, wait }
}
