/**
 * Deliveries on their way: claimed, attempted, recorded. An answer that was just made is attempted at once where its
 * destination is healthy; everything else is taken by the participant's `drain` job.
 */
import { randomUUID } from 'node:crypto'
import { CanonicalText, canonicalJson, isJsonObject, RequestFault } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import { BodyUnreadable, parsePersisted } from '../keys/bodies.ts'
import {
  answerContext,
  type Claim,
  type ClaimedDelivery,
  type Destination,
  deliveryContext,
  type Ended,
  type NewDelivery,
  originOf,
} from '../model/delivery.ts'
import { safeDatabaseError } from '../store/db/database-errors.ts'
import { ensureDrain, recordAttempt } from '../store/deliveries/deliveries.ts'
import type { CallbackSettings } from '../store/directory/participant-callbacks.ts'
import { attempt, logInternal, type Made } from './attempt.ts'
import { type Ending, endingOfError, endings } from './failures.ts'
import { type Place, SLOW } from './lanes.ts'
import { breakerPause, nextAttempt } from './schedule.ts'
import { callbackNamed, callbackTarget, sameTarget } from './targets.ts'

/** The right to attempt a delivery to a destination at once, for what is about to be committed with its claim. */
export interface Reserved {
  readonly claim: Claim
  /** Left by `deliverNow`; whoever does not call it leaves the place as `unused`. */
  readonly place: Place
}

/** Null: its `drain` job shall do it. */
export async function reserve(context: Context, destination: Destination): Promise<Reserved | null> {
  const settings = await context.callbacks.of({ id: destination.participant })
  const [closed, place] = [
    await context.breakers.isClosed(destination),
    context.lanes.tryEnter(destination, settings),
  ]
  if (place === null) return null
  if (!closed) {
    place.leave('unused')
    return null
  }
  return { claim: claimFor(settings), place }
}

/** A right that outlives the longest attempt. */
export function claimFor({ timeout_ms }: Pick<CallbackSettings, 'timeout_ms'>): Claim {
  return { id: randomUUID(), seconds: timeout_ms / 1_000 + GRACE }
}

/** Seconds in which an attempt that is over is recorded. */
const GRACE = 5
/** Milliseconds that the maker of an answer waits for its attempt; it goes on without it. */
const PATIENCE = 500

/** A delivery that was just committed with the claim of `reserved`. */
export interface FreshDelivery extends Reserved {
  readonly delivery: NewDelivery
  /** As they stand in its body. */
  readonly header: object
  readonly message: object | CanonicalText
}

/**
 * Makes the first attempt at a delivery. Returns when it is recorded, or takes long: then it goes on by itself, and
 * the participant's `drain` job looks after it. What the peer does is never thrown.
 */
export async function deliverNow(context: Context, fresh: FreshDelivery): Promise<void> {
  const { delivery, claim, place } = fresh
  const attempting = attemptFresh(context, fresh)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, PATIENCE, 'late')
  })
  try {
    if ((await Promise.race([attempting, late])) !== 'late') return
  } finally {
    clearTimeout(timer)
  }
  place.slow()
  // Nobody waits for it any more: what goes wrong is ours, and its claim ends.
  attempting.catch((error: unknown) => logUnrecorded(context, error))
  await ensureDrain(context.db, delivery.participant, claim.seconds)
}

/** For the operator: an attempt that nobody waits for has left no record. */
export function logUnrecorded({ log }: Pick<Context, 'log'>, error: unknown): void {
  log.error(safeDatabaseError(error), 'an attempt could not be recorded; made again when its claim ends')
}

async function attemptFresh(context: Context, { place, claim, header, message, ...rest }: FreshDelivery) {
  const origin = originOf(rest.delivery.target)
  const delivery = { ...rest.delivery, origin, number: 1, earlier: 0, sender_uri: undefined }
  let outcome: Parameters<Place['leave']>[0] = 'failing'
  try {
    const read = async () => ({ header, message })
    const result = await deliver(context, { delivery, claim, read, probe: false, drain: () => true })
    outcome = result ? 'healthy' : 'failing'
  } finally {
    place.leave(outcome)
  }
}

/** A claimed delivery and what is known of its attempt. */
export interface Turn {
  readonly delivery: Omit<ClaimedDelivery, 'body'>
  readonly claim: Claim
  /** Header and message. */
  readonly read: () => Promise<Contents>
  /** Whether an open breaker lets it through. */
  readonly probe: boolean
  /** Asked when it is over: whether the `drain` job is to be made sure of when it is attempted again. */
  readonly drain: () => boolean
}

interface Contents {
  readonly header: object
  readonly message: object | CanonicalText
}

/** What is kept of a delivery, in clear; each attempt sends it as it is. */
export async function openDelivery(
  context: Context,
  { id, body }: Pick<NewDelivery, 'id' | 'body'>,
): Promise<Contents> {
  const kept = parsePersisted(await context.bodies.decryptBody(body, deliveryContext(id)))
  if (!isJsonObject(kept.header) || !isJsonObject(kept.message)) {
    throw new BodyUnreadable('altered')
  }
  return { header: kept.header, message: new CanonicalText(canonicalJson(kept.message)) }
}

/**
 * Attempts one delivery and records what came of it.
 * @returns whether the peer is healthy: it answered, and in time
 */
export async function deliver(context: Context, turn: Turn): Promise<boolean> {
  const { delivery, claim, probe, drain } = turn
  const participant = await context.directory.participantById(delivery.participant)
  const registry = await context.directory.registryById(delivery.registry)
  if (participant?.status !== 'active' || registry === undefined) {
    // It waits: its claim ends by itself.
    await ensureDrain(context.db, delivery.participant, claim.seconds)
    return false
  }
  const settings = await context.callbacks.of(participant)
  const { target, made } = await makeAttempt(context, turn, { participant, registry, settings })
  const { ending, duration_ms } = made
  const schedule = settings.schedule ?? context.retrySchedule
  const ended = endedBy(ending, schedule, delivery.number - delivery.earlier, made.retry_after)
  const { id, number } = delivery
  await recordAttempt(
    context.db,
    {
      delivery: id,
      number,
      at: made.at,
      duration_ms,
      status: ending.status,
      error: ending.verdict === 'delivered' ? null : ending.name,
      answer:
        made.answer === '' ? null : await context.bodies.encryptBody(made.answer, answerContext(id, number)),
    },
    ended,
    {
      participant: participant.id,
      origin: target === null ? delivery.origin : originOf(target),
      ...{ peer: ending.peer, probe, longest_pause: breakerPause(schedule) },
    },
    { claim: claim.id, target, drain: drain() },
  )
  if (ended.state !== 'pending') context.metrics.deliveryEnded(ended.state)
  return ending.peer === 'up' && duration_ms < SLOW
}

async function makeAttempt(
  context: Context,
  { delivery, read }: Turn,
  to: Pick<Parameters<typeof attempt>[1], 'participant' | 'registry' | 'settings'>,
): Promise<{ target: string | null; made: Made }> {
  const without = (ending: Ending): { target: null; made: Made } => ({
    target: null,
    made: { at: new Date(), duration_ms: 0, ending, retry_after: 0, answer: '', detail: null },
  })
  try {
    const target = targetOf(to.settings, delivery)
    if (target === null) return without(endings.no_address)
    const { header, message } = await read()
    const { correlation_id, id } = delivery
    // Who must encrypt by now gets nothing in clear, however it asked then.
    const encrypted = delivery.encrypted || to.participant.encryption_policy === 'required'
    const outgoing = { ...to, target, encrypted, header, message, trace: correlation_id ?? id }
    return { target, made: await attempt(context, outgoing) }
  } catch (error) {
    if (error instanceof RequestFault) return without(endings.address_not_registered)
    if (error instanceof BodyUnreadable) return without(endings[`body_${error.reason}`])
    const ending = endingOfError(error)
    logInternal(context, error)
    return without(ending)
  }
}

/** Asked again for each attempt: addresses are taken back, and participants move. */
function targetOf(
  settings: CallbackSettings,
  { callback, sender_uri, target }: Turn['delivery'],
): string | null {
  const row = callbackNamed(callback)
  if (sender_uri !== undefined) return callbackTarget(settings, sender_uri, row)
  return target === null ? null : sameTarget(settings, target, row)
}

function endedBy(
  { name, verdict }: Ending,
  schedule: readonly number[],
  attempts: number,
  retryAfter: number,
): Ended {
  if (verdict === 'delivered') return { state: 'delivered', wait: null, reason: null }
  if (verdict !== 'retry') return { state: verdict, wait: null, reason: name }
  const wait = nextAttempt(schedule, attempts, { retryAfter })
  return wait === null
    ? { state: 'dead', wait: null, reason: name }
    : { state: 'pending', wait, reason: null }
}
