/**
 * Limits the attempts of this node. The settings of a participant say how many permits it has for all its destinations together,
 * and its rate: the most attempts in a second. The maker of an envelope attempts the delivery at once if it gets a permit. After
 * an attempt that failed or was slow, only the dispatcher attempts deliveries to that destination, for a minute or until an
 * attempt succeeds. Such a destination may use only a share of the permits, so that it delays others little.
 */
import type { Destination } from '@rollcall/core/model/delivery'

export interface LimiterSettings {
  /** The most attempts for a participant at a time. */
  readonly concurrency: number
  /** The most attempts for a participant in a second; after a pause, this number of attempts may be made at once. */
  readonly rate: number
}

/** The permit for one attempt at a delivery. Its holder must release it. */
export interface Permit {
  /**
   * Ends the permit.
   * @param outcome `healthy`: the peer answered in less than `SLOW_ATTEMPT_MS`, with a result that says it is up
   * (`AttemptResult.peer`); `unused`: nothing was attempted; `failing`: any other attempt. After a call of `slow`, the limiter
   * takes `healthy` as `failing`.
   */
  release(outcome: 'healthy' | 'failing' | 'unused'): void
  /** Marks the destination as failing while its attempt still continues, because the attempt takes long. */
  slow(): void
}

/** Gives permits for the attempts of one node. */
export interface Limiter {
  /**
   * Takes a permit; null when none is free or the rate allows none now, when the destination has lately failed, or when its
   * health is unknown and an attempt there is in progress.
   */
  acquireForMaker(destination: Destination, settings: LimiterSettings): Permit | null
  /**
   * Takes a permit, also for a destination that has failed or is not known; such a destination gets only a share of the permits.
   * @returns the permit; or the milliseconds until the rate allows an attempt; or null: no permit is free for it
   */
  acquireForDispatcher(destination: Destination, settings: LimiterSettings): Permit | number | null
  /** Resolves when all permits are released. */
  idle(): Promise<void>
}

/**
 * Milliseconds after which an attempt counts as slow. `deliverNow` has a shorter limit, because the maker of an envelope
 * waits for it.
 */
export const SLOW_ATTEMPT_MS = 1_000
/** Milliseconds after a failure until the maker of an envelope makes one attempt at that destination again. */
const FAILURE_MEMORY_MS = 60_000
/**
 * The most destinations of a participant whose health is remembered. Beyond it, the one that was used least recently is
 * forgotten, unless it has an attempt in progress.
 */
const MOST_DESTINATIONS_REMEMBERED = 100

interface DestinationHealth {
  inUse: number
  /** `unknown`: makers of envelopes attempt one delivery at a time to this destination, until one succeeds or fails. */
  health: 'healthy' | 'unknown' | 'failing'
  failedAt: number
}

interface ParticipantLimitState {
  inUse: number
  tokens: number
  filledAt: number
  /** The health of the participant's destinations by origin, the least recently used first. */
  readonly destinations: Map<string, DestinationHealth>
}

/** Creates the limiter. @param now milliseconds of a clock that only goes forward */
export function createLimiter(now: () => number = () => performance.now()): Limiter {
  const participants = new Map<number, ParticipantLimitState>()
  let inUse = 0
  let waiting: (() => void)[] = []

  const stateOf = (participant: number, rate: number): ParticipantLimitState => {
    const known = participants.get(participant)
    if (known !== undefined) return known
    const made: ParticipantLimitState = { inUse: 0, tokens: rate, filledAt: now(), destinations: new Map() }
    participants.set(participant, made)
    return made
  }

  const acquireForDispatcher = (
    { participant, origin }: Destination,
    { concurrency, rate }: LimiterSettings,
  ): Permit | number | null => {
    const state = stateOf(participant, rate)
    const destination = state.destinations.get(origin) ?? unknownHealth()
    if (state.inUse >= concurrency || !mayAcquirePermit(state, destination, concurrency)) return null
    const wait = takeAttemptToken(state, rate, now())
    if (wait > 0) return wait
    rememberDestination(state, origin, destination)
    inUse += 1
    return createPermit(state, destination, now, released)
  }

  const released = (): void => {
    inUse -= 1
    if (inUse > 0) return
    for (const resolve of waiting) resolve()
    waiting = []
  }

  return {
    acquireForMaker(destination, settings) {
      const known = stateOf(destination.participant, settings.rate).destinations.get(destination.origin)
      if (known !== undefined) {
        if (known.health === 'failing' && now() - known.failedAt >= FAILURE_MEMORY_MS) known.health = 'unknown'
        if (known.health === 'failing' || (known.health === 'unknown' && known.inUse > 0)) return null
      }
      const permit = acquireForDispatcher(destination, settings)
      return typeof permit === 'number' ? null : permit
    },
    acquireForDispatcher,
    idle: () => (inUse === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(() => resolve()))),
  }
}

/** Takes one token of the attempt rate. Returns 0, or the milliseconds until a token is there. */
function takeAttemptToken(state: ParticipantLimitState, rate: number, at: number): number {
  state.tokens = Math.min(rate, state.tokens + ((at - state.filledAt) / 1_000) * rate)
  state.filledAt = at
  if (state.tokens < 1) return ((1 - state.tokens) / rate) * 1_000
  state.tokens -= 1
  return 0
}

/** Makes a permit. @param released called once, when the permit is released */
function createPermit(
  state: ParticipantLimitState,
  destination: DestinationHealth,
  now: () => number,
  released: () => void,
): Permit {
  state.inUse += 1
  destination.inUse += 1
  let isReleased = false
  let isSlow = false
  const fail = (): void => {
    destination.health = 'failing'
    destination.failedAt = now()
  }
  return {
    slow() {
      if (isReleased) return
      isSlow = true
      fail()
    },
    release(outcome) {
      if (isReleased) return
      isReleased = true
      state.inUse -= 1
      destination.inUse -= 1
      if (outcome === 'unused') state.tokens += 1
      else if (outcome === 'failing' || isSlow) fail()
      else destination.health = 'healthy'
      released()
    },
  }
}

const unknownHealth = (): DestinationHealth => ({ inUse: 0, health: 'unknown', failedAt: 0 })

/**
 * True when a destination may have a permit. A destination that is not known to be healthy gets at most half of the
 * participant's permits. All such destinations together leave a quarter of the permits to healthy destinations; but if there is
 * only one permit, any destination may have it.
 */
function mayAcquirePermit(
  { destinations }: ParticipantLimitState,
  { inUse, health }: DestinationHealth,
  concurrency: number,
): boolean {
  if (health === 'healthy') return true
  if (inUse >= Math.ceil(concurrency / 2)) return false
  let unwell = 0
  for (const other of destinations.values()) if (other.health !== 'healthy') unwell += other.inUse
  return unwell < Math.max(1, concurrency - Math.ceil(concurrency / 4))
}

function rememberDestination({ destinations }: ParticipantLimitState, origin: string, destination: DestinationHealth): void {
  destinations.delete(origin)
  destinations.set(origin, destination)
  if (destinations.size <= MOST_DESTINATIONS_REMEMBERED) return
  for (const [other, { inUse }] of destinations) {
    if (inUse > 0 || other === origin) continue
    destinations.delete(other)
    return
  }
}
