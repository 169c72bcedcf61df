/**
 * The `drain` job of a participant: attempts what is due, as many at a time as its settings allow, for a while; then
 * it gives way to the jobs of others and comes again when the next one is due.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { findBreaker, takeProbe } from '../store/breakers.ts'
import { claimDue, ensureDrain, expireDeliveries, nextDue } from '../store/deliveries.ts'
import type { Claim, ClaimedDelivery } from '../store/delivery.ts'
import type { CallbackSettings } from '../store/participant-callbacks.ts'
import { claimFor, deliver, openDelivery } from './deliver.ts'
import type { Place } from './lanes.ts'
import { wholeSchedule } from './schedule.ts'

/** Milliseconds after which no further attempt is begun. */
const TURN = 10_000
/** Milliseconds between two looks at places that others hold. */
const LOOK = 50
/** Milliseconds between two looks at what has become due, while attempts are under way. */
const POLL = 250
/** Seconds until the deliveries of a disabled participant are looked at again. */
const DISABLED = 60
const ENDING = { ending: true }

/**
 * Never two of a participant at a time: they have a queue of their own.
 * @param signal begins nothing more when it is aborted; what is under way is finished
 */
export async function drain(context: Context, participant: number, signal?: AbortSignal): Promise<void> {
  const { db } = context
  const due = await nextDue(db, participant)
  if (due === null) return
  const found = await context.directory.participantById(participant)
  if (found?.status !== 'active') {
    if (found !== null) await ensureDrain(db, participant, DISABLED, ENDING)
    return
  }
  if (due > 0) return ensureDrain(db, participant, due, ENDING)

  const settings = await context.callbacks.of(found)
  const { opened_at, probe_in } = await findBreaker(db, participant)
  if (opened_at === null) await takeTurn(context, participant, settings, signal)
  else if ((probe_in ?? 0) <= 0) await probe(context, participant, settings)

  const [wait, breaker] = [await nextDue(db, participant), await findBreaker(db, participant)]
  if (wait !== null) await ensureDrain(db, participant, Math.max(wait, breaker.probe_in ?? 0), ENDING)
}

/** One attempt shows whether the peer is there again; while it is not, what is past its time is given up. */
async function probe(context: Context, participant: number, settings: CallbackSettings): Promise<void> {
  const claim = claimFor(settings)
  if (!(await takeProbe(context.db, participant, claim.seconds))) return
  const [delivery] = await claimDue(context.db, participant, claim, 1)
  if (delivery === undefined) return
  const read = () => openDelivery(context, delivery)
  await deliver(context, { delivery, claim, read, probe: true, drain: false })
  const { opened_at } = await findBreaker(context.db, participant)
  if (opened_at === null) return
  const expired = await expireDeliveries(
    context.db,
    participant,
    wholeSchedule(settings.schedule ?? context.retrySchedule),
  )
  for (let count = 0; count < expired; count += 1) context.metrics.deliveryEnded('dead')
}

async function takeTurn(
  context: Context,
  participant: number,
  settings: CallbackSettings,
  signal: AbortSignal | undefined,
): Promise<void> {
  const end = performance.now() + TURN
  const running = new Set<Promise<void>>()
  let failed: unknown
  let suspicious = false
  const attempt = async ({ delivery, place }: Claimed, claim: Claim): Promise<void> => {
    const read = () => openDelivery(context, delivery)
    let healthy = false
    try {
      healthy = await deliver(context, { delivery, claim, read, probe: false, drain: false })
      suspicious ||= !healthy
    } catch (error) {
      failed ??= error
    } finally {
      place.leave(healthy ? 'healthy' : 'failing')
    }
  }
  try {
    while (performance.now() < end && signal?.aborted !== true && failed === undefined) {
      if (suspicious && (await findBreaker(context.db, participant)).opened_at !== null) break
      suspicious = false
      const { places, wait } = placesOf(context, participant, settings)
      if (places.length === 0) {
        await Promise.race([...running, sleep(wait, undefined, { ref: false })])
        continue
      }
      const claim = claimFor(settings)
      const claimed = await claimInto(context, participant, claim, places)
      for (const one of claimed) {
        const attempting = attempt(one, claim).finally(() => running.delete(attempting))
        running.add(attempting)
      }
      if (claimed.length > 0) continue
      if (running.size === 0) break
      await Promise.race([...running, sleep(POLL, undefined, { ref: false })])
    }
  } finally {
    await Promise.all(running)
  }
  if (failed !== undefined) throw failed
}

/** A delivery and the place in which it is attempted. */
interface Claimed {
  readonly delivery: ClaimedDelivery
  readonly place: Place
}

/** Takes what is due for as many places as there are; every place for which there is nothing is left again. */
async function claimInto(
  { db }: Context,
  participant: number,
  claim: Claim,
  places: readonly Place[],
): Promise<readonly Claimed[]> {
  const taken: Claimed[] = []
  const free = [...places]
  try {
    for (const delivery of await claimDue(db, participant, claim, places.length)) {
      const place = free.pop()
      if (place !== undefined) taken.push({ delivery, place })
    }
    return taken
  } finally {
    for (const place of free) place.leave('unused')
  }
}

/** The places that are free now; without any, the milliseconds until it is worth looking again. */
function placesOf(
  { lanes }: Context,
  participant: number,
  settings: CallbackSettings,
): { readonly places: readonly Place[]; readonly wait: number } {
  const places: Place[] = []
  for (;;) {
    const place = lanes.enter(participant, settings)
    if (place === null || typeof place === 'number') return { places, wait: Math.min(place ?? LOOK, 1_000) }
    places.push(place)
  }
}
