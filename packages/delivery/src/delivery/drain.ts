/**
 * Attempts what is due for one participant, destination by destination, as many at a time as its settings allow, for a
 * while; then other participants have their turn.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Claim, ClaimedDelivery } from '@rollcall/core/model/delivery'
import type { CallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { findBreaker, takeProbes } from '../store/deliveries/breakers.ts'
import { claimDue, expireDeliveries } from '../store/deliveries/deliveries.ts'
import { findDestinations, nextDue, type WaitingDestination } from '../store/deliveries/destinations.ts'
import { attemptWithPermit, claimFor, type Delivering, logUnrecorded, openDelivery } from './deliver.ts'
import type { Limiter, Permit } from './limiter.ts'
import { createRound } from './round.ts'
import { wholeSchedule } from './schedule.ts'

/** Milliseconds of a turn. */
const TURN = 10_000
/** Milliseconds that the end of a turn waits for attempts; those that take longer go on by themselves. */
const TIMEOUT = 500
/** Milliseconds between two polls at permits that are all in use. */
const POLL_DELAY = 50
/** Milliseconds between two polls at what has become due, while attempts are under way. */
const POLL = 250
/** Destinations in one poll. */
const DESTINATIONS = 200
/** Seconds from one turn to the next at least, unless something is due: many destinations are then probed together. */
const BETWEEN_TURNS = 0.25
/** Seconds until the deliveries of a disabled participant are checked again. */
const DISABLED = 5

/**
 * Attempts what is due for a participant. On one node the dispatcher never runs two at a time for a participant;
 * several nodes claim different deliveries.
 * @param signal begins nothing more when it is aborted; what is under way is finished
 * @param turn milliseconds after which no further attempt is begun
 * @returns seconds until a delivery of the participant may be due; null when none is pending
 */
export async function drain(
  deps: Delivering,
  participant: number,
  signal?: AbortSignal,
  turn = TURN,
): Promise<number | null> {
  const { db } = deps
  const found = await deps.directory.participantById(participant)
  if (found?.status !== 'active') {
    const waits = found !== null && (await nextDue(db, participant)) !== null
    return waits ? DISABLED : null
  }
  await takeTurn(deps, participant, await deps.callbacks.of(found), { signal, turn })
  const wait = await nextDue(db, participant)
  return wait === null || wait === 0 ? wait : Math.max(wait, BETWEEN_TURNS)
}

/**
 * Goes round the destinations that have something due, and gives each a permit before any gets a second one. So a
 * destination that hangs, or whose breaker is open, delays no other destination.
 */
async function takeTurn(
  deps: Delivering,
  participant: number,
  settings: CallbackSettings,
  { signal, turn }: { readonly signal: AbortSignal | undefined; readonly turn: number },
  now = (): number => performance.now(),
): Promise<void> {
  const end = now() + turn
  const running = new Set<Promise<void>>()
  let failed: unknown
  let over = false
  const begin = (taken: Taken, claim: Claim): void => {
    const attempting = attempt(deps, settings, taken, claim)
      .catch((error: unknown) => {
        if (over) logUnrecorded(deps, error)
        else failed ??= error
      })
      .finally(() => running.delete(attempting))
    running.add(attempting)
  }
  const pause = (milliseconds: number) => Promise.race([...running, sleep(milliseconds, undefined, { ref: false })])
  const round = createRound(DESTINATIONS)
  try {
    while (now() < end && signal?.aborted !== true && failed === undefined) {
      const seen = await nextDestinations(deps, participant, round.from())
      const due = seen.filter(({ wait }) => wait <= 0)
      const claim = claimFor(settings)
      const { taken, served, wait } = await takeDue(deps, participant, settings, due, claim)
      for (const one of taken) begin(one, claim)
      const progress = round.looked(seen, due, served)
      if (progress === 'idle' && running.size === 0) break
      if (progress === 'idle') await pause(POLL)
      else if (progress === 'busy' || (served !== undefined && taken.length === 0)) await pause(wait)
    }
  } finally {
    const all = Promise.all(running)
    const wait = signal?.aborted === true || failed !== undefined ? undefined : TIMEOUT
    await (wait === undefined ? all : Promise.race([all, sleep(wait, undefined, { ref: false })]))
    over = true
  }
  if (failed !== undefined) throw failed
}

/** Destinations in the order of their origins, beginning at `from`; at the end it goes on with the first one. */
async function nextDestinations(
  { db }: Delivering,
  participant: number,
  from: string,
): Promise<readonly WaitingDestination[]> {
  const found = await findDestinations(db, participant, from, DESTINATIONS)
  if (from === '' || found.length === DESTINATIONS) return found
  const first = await findDestinations(db, participant, '', DESTINATIONS - found.length)
  return [...found, ...first.filter(({ origin }) => origin < from)]
}

/** A delivery, the permit in which it is attempted, and whether it is its destination's probe. */
interface Taken {
  readonly delivery: ClaimedDelivery
  readonly permit: Permit
  readonly probe: boolean
}

async function attempt(
  deps: Delivering,
  settings: CallbackSettings,
  { delivery, permit, probe }: Taken,
  claim: Claim,
): Promise<void> {
  await attemptWithPermit(deps, permit, { delivery, claim, probe, read: () => openDelivery(deps, delivery) })
  if (probe) await expire(deps, settings, delivery)
}

/** Gives up deliveries that have waited longer than their schedule, while a probe shows that nobody is there. */
async function expire(deps: Delivering, settings: CallbackSettings, to: ClaimedDelivery): Promise<void> {
  const { opened_at } = await findBreaker(deps.db, to)
  if (opened_at === null) return
  const schedule = wholeSchedule(settings.schedule ?? deps.retrySchedule)
  const expired = await expireDeliveries(deps.db, to, schedule)
  for (let count = 0; count < expired; count += 1) deps.metrics.deliveryEnded('dead')
}

interface TakenDue {
  readonly taken: readonly Taken[]
  /** The last of the destinations that had a permit. */
  readonly served: WaitingDestination | undefined
  /** Milliseconds until it is worth asking for a permit again. */
  readonly wait: number
}

/** Takes due deliveries for as many permits as there are. A permit for which nothing is due is released. */
async function takeDue(
  { db, requests, limiter }: Delivering,
  participant: number,
  settings: CallbackSettings,
  due: readonly WaitingDestination[],
  claim: Claim,
): Promise<TakenDue> {
  const { permits, wait } = permitsOf(limiter, participant, settings, due)
  const taken: Taken[] = []
  try {
    const open = new Set(due.filter((one) => one.open && permits.has(one.origin)).map(({ origin }) => origin))
    const probed = open.size === 0 ? [] : await takeProbes(db, participant, [...open], claim.seconds)
    const wanted = [...permits]
      .filter(([origin]) => !open.has(origin) || probed.includes(origin))
      .map(([origin, { length }]) => ({ origin, count: length }))
    if (wanted.length > 0) {
      for (const delivery of await claimDue({ db, requests }, participant, claim, wanted)) {
        const permit = permits.get(delivery.origin)?.pop()
        if (permit !== undefined) taken.push({ delivery, permit, probe: open.has(delivery.origin) })
      }
    }
    return { taken, served: due.findLast(({ origin }) => permits.has(origin)), wait }
  } finally {
    for (const permit of [...permits.values()].flat()) permit.release('unused')
  }
}

/** Permits by origin: one for each destination, then a second one, until none is free. A probe is one attempt. */
function permitsOf(
  limiter: Limiter,
  participant: number,
  settings: CallbackSettings,
  due: readonly WaitingDestination[],
): { readonly permits: ReadonlyMap<string, Permit[]>; readonly wait: number } {
  const permits = new Map<string, Permit[]>()
  let wait = POLL_DELAY
  let asking = due
  while (asking.length > 0) {
    asking = asking.filter(({ origin, open }) => {
      const permit = limiter.acquire({ participant, origin }, settings)
      if (typeof permit === 'number') wait = Math.min(permit, 1_000)
      if (permit === null || typeof permit === 'number') return false
      permits.set(origin, [...(permits.get(origin) ?? []), permit])
      return !open
    })
  }
  return { permits, wait }
}
