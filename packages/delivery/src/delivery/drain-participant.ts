/**
 * Attempts the due deliveries of one participant, as many at a time as its settings allow, with its destinations in
 * turns. After a while other participants have their turn.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClaimedDelivery, DeliveryClaim } from '@rollcall/core/model/delivery'
import type { CallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { claimBreakerProbes, findBreaker } from '../store/deliveries/breakers.ts'
import { claimDueDeliveries, expireDeliveries } from '../store/deliveries/deliveries.ts'
import { findDestinations, secondsUntilDelivery, type WaitingDestination } from '../store/deliveries/destinations.ts'
import { attemptWithPermit, type DeliverDeps, logUnrecordedAttempt, newAttemptClaim } from './deliver.ts'
import type { Limiter, Permit } from './limiter.ts'
import { createDestinationPollTracker } from './round.ts'
import { mostWholeScheduleSeconds } from './schedule.ts'
import { decryptDelivery } from './stored-envelope.ts'

/** Milliseconds of a participant's turn, after which no further attempt is begun. */
const PARTICIPANT_TURN_MS = 10_000
/**
 * Milliseconds for which a turn waits at its end for attempts in progress. Those that last longer continue in the
 * background. A turn that has failed or is aborted waits for all.
 */
const MOST_WAIT_FOR_ATTEMPTS_MS = 500
/** The most milliseconds until permits are asked for again, when all are in use. */
const PERMIT_POLL_MS = 50
/** The most milliseconds until due deliveries are looked for again, while attempts are in progress. */
const MOST_DELIVERY_POLL_PAUSE_MS = 250
/** The most destinations of a participant that one poll for due deliveries reads. */
const MOST_POLLED_DESTINATIONS = 200
/**
 * The fewest seconds until the next turn when nothing is due now. What becomes due in this time, such as the probes of several
 * destinations, shares that turn.
 */
const LEAST_TURN_PAUSE_SECONDS = 0.25
/** Seconds until the deliveries of a disabled participant are checked again. */
const DISABLED_PEER_RECHECK_SECONDS = 5

/**
 * Attempts what is due for a participant. On one node the dispatcher never runs this twice at a time for a participant.
 * Several nodes claim different deliveries.
 * @param signal when it is aborted, nothing more is begun, and attempts in progress are finished
 * @param turn milliseconds after which no further attempt is begun
 * @returns seconds until a delivery of the participant may be due; null when none is pending
 */
export async function drainParticipant(
  deps: DeliverDeps,
  participant: number,
  signal?: AbortSignal,
  turn = PARTICIPANT_TURN_MS,
): Promise<number | null> {
  const { db } = deps
  const found = await deps.directory.participantById(participant)
  if (found?.status !== 'active') {
    const waits = found !== null && (await secondsUntilDelivery(db, participant)) !== null
    return waits ? DISABLED_PEER_RECHECK_SECONDS : null
  }
  await runParticipantTurn(deps, participant, await deps.callbacks.of(found), { signal, turn })
  const wait = await secondsUntilDelivery(db, participant)
  return wait === null || wait === 0 ? wait : Math.max(wait, LEAST_TURN_PAUSE_SECONDS)
}

/**
 * Visits the destinations that have something due, and gives each a permit before any gets a second one. So a
 * destination that does not answer, or whose breaker is open, delays the others little.
 */
async function runParticipantTurn(
  deps: DeliverDeps,
  participant: number,
  settings: CallbackSettings,
  { signal, turn }: { readonly signal: AbortSignal | undefined; readonly turn: number },
  now = (): number => performance.now(),
): Promise<void> {
  const end = now() + turn
  const running = new Set<Promise<void>>()
  let failed: unknown
  let over = false
  const begin = (taken: DeliveryWithPermit, claim: DeliveryClaim): void => {
    const attempting = attemptTakenDelivery(deps, settings, taken, claim)
      .catch((error: unknown) => {
        if (over) logUnrecordedAttempt(deps, error)
        else failed ??= error
      })
      .finally(() => running.delete(attempting))
    running.add(attempting)
  }
  const pause = (milliseconds: number) => Promise.race([...running, sleep(milliseconds, undefined, { ref: false })])
  const round = createDestinationPollTracker(MOST_POLLED_DESTINATIONS)
  try {
    while (now() < end && signal?.aborted !== true && failed === undefined) {
      const seen = await readNextDestinations(deps, participant, round.from())
      const due = seen.filter(({ wait }) => wait <= 0)
      const claim = newAttemptClaim(settings)
      const { taken, served, wait } = await takeDueDeliveries(deps, participant, settings, due, claim)
      for (const one of taken) begin(one, claim)
      const progress = round.looked(seen, due, served)
      if (progress === 'idle' && running.size === 0) break
      if (progress === 'idle') await pause(MOST_DELIVERY_POLL_PAUSE_MS)
      else if (progress === 'busy' || (served !== undefined && taken.length === 0)) await pause(wait)
    }
  } finally {
    const all = Promise.all(running)
    const wait = signal?.aborted === true || failed !== undefined ? undefined : MOST_WAIT_FOR_ATTEMPTS_MS
    await (wait === undefined ? all : Promise.race([all, sleep(wait, undefined, { ref: false })]))
    over = true
  }
  if (failed !== undefined) throw failed
}

/** Reads destinations in the order of their origins, from `from` on; after the last one it continues with the first. */
async function readNextDestinations(
  { db }: DeliverDeps,
  participant: number,
  from: string,
): Promise<readonly WaitingDestination[]> {
  const found = await findDestinations(db, participant, from, MOST_POLLED_DESTINATIONS)
  if (from === '' || found.length === MOST_POLLED_DESTINATIONS) return found
  const first = await findDestinations(db, participant, '', MOST_POLLED_DESTINATIONS - found.length)
  return [...found, ...first.filter(({ origin }) => origin < from)]
}

/** A claimed delivery, its permit, and whether the attempt is the probe of its destination. */
interface DeliveryWithPermit {
  readonly delivery: ClaimedDelivery
  readonly permit: Permit
  readonly probe: boolean
}

async function attemptTakenDelivery(
  deps: DeliverDeps,
  settings: CallbackSettings,
  { delivery, permit, probe }: DeliveryWithPermit,
  claim: DeliveryClaim,
): Promise<void> {
  const read = () => decryptDelivery(deps, delivery)
  await attemptWithPermit(deps, permit, { delivery, claim, probe, checksPermission: true, read })
  if (probe) await expireDeliveriesAfterProbe(deps, settings, delivery)
}

/** Gives up deliveries that have waited longer than their schedule, after a probe found the destination still down. */
async function expireDeliveriesAfterProbe(deps: DeliverDeps, settings: CallbackSettings, to: ClaimedDelivery): Promise<void> {
  const { opened_at } = await findBreaker(deps.db, to)
  if (opened_at === null) return
  const schedule = mostWholeScheduleSeconds(settings.schedule ?? deps.retrySchedule)
  const expired = await expireDeliveries(deps.db, to, schedule)
  for (let count = 0; count < expired; count += 1) deps.metrics.deliveryEnded('dead')
}

interface TakeDeliveriesResult {
  readonly taken: readonly DeliveryWithPermit[]
  /** The last due destination that got a permit; undefined when none got one. */
  readonly served: WaitingDestination | undefined
  /** Milliseconds until permits should be asked for again. */
  readonly wait: number
}

/** Claims due deliveries for as many permits as there are. A permit without a due delivery is released. */
async function takeDueDeliveries(
  { db, requests, limiter }: DeliverDeps,
  participant: number,
  settings: CallbackSettings,
  due: readonly WaitingDestination[],
  claim: DeliveryClaim,
): Promise<TakeDeliveriesResult> {
  const { permits, wait } = takePermits(limiter, participant, settings, due)
  const taken: DeliveryWithPermit[] = []
  try {
    const open = new Set(due.filter((one) => one.open && permits.has(one.origin)).map(({ origin }) => origin))
    const probed = open.size === 0 ? [] : await claimBreakerProbes(db, participant, [...open], claim.seconds)
    const wanted = [...permits]
      .filter(([origin]) => !open.has(origin) || probed.includes(origin))
      .map(([origin, { length }]) => ({ origin, count: length }))
    if (wanted.length > 0) {
      for (const delivery of await claimDueDeliveries({ db, requests }, participant, claim, wanted)) {
        const permit = permits.get(delivery.origin)?.pop()
        if (permit !== undefined) taken.push({ delivery, permit, probe: open.has(delivery.origin) })
      }
    }
    return { taken, served: due.findLast(({ origin }) => permits.has(origin)), wait }
  } finally {
    for (const permit of [...permits.values()].flat()) permit.release('unused')
  }
}

/**
 * Takes permits: one for each destination, then a second one, until none is free. A destination with an open breaker
 * gets one for its probe.
 */
function takePermits(
  limiter: Limiter,
  participant: number,
  settings: CallbackSettings,
  due: readonly WaitingDestination[],
): { readonly permits: ReadonlyMap<string, Permit[]>; readonly wait: number } {
  const permits = new Map<string, Permit[]>()
  let wait = PERMIT_POLL_MS
  let asking = due
  while (asking.length > 0) {
    asking = asking.filter(({ origin, open }) => {
      const permit = limiter.acquireForDispatcher({ participant, origin }, settings)
      if (typeof permit === 'number') wait = Math.min(permit, 1_000)
      if (permit === null || typeof permit === 'number') return false
      permits.set(origin, [...(permits.get(origin) ?? []), permit])
      return !open
    })
  }
  return { permits, wait }
}
