/**
 * Who is sent something right now, on this node: a participant has as many places as its settings say for all of its
 * destinations together, and takes them no faster than its rate. A healthy destination is attempted by whoever has an
 * answer for it. One whose last attempt failed or was slow is left to the `drain` job of its participant, and has a
 * share of the places only, so that it holds up no other destination.
 */
import type { Destination } from '../model/delivery.ts'

/** What the settings of a participant say about places. */
export interface LaneSettings {
  /** Attempts at a time. */
  readonly concurrency: number
  /** Attempts a second. */
  readonly rate: number
}

/** One attempt's place; it must be left, once. */
export interface Place {
  /**
   * @param outcome `healthy`: answered in time; `failing`: failed or slow; `unused`: nothing was attempted. Told
   * earlier by `slow`, it is not taken back.
   */
  leave(outcome: 'healthy' | 'failing' | 'unused'): void
  /** Says, while the attempt goes on, that it takes long. */
  slow(): void
}

export interface Lanes {
  /** A place of a healthy destination; null when there is none now. */
  tryEnter(destination: Destination, settings: LaneSettings): Place | null
  /** A place whatever its health: or the milliseconds until it is worth asking again; null: when a place is left. */
  enter(destination: Destination, settings: LaneSettings): Place | number | null
  /** Resolves when all places are left. */
  idle(): Promise<void>
}

/** Milliseconds from which an attempt is slow. */
export const SLOW = 1_000
/** Milliseconds after which one that was not healthy is given one place to show that it is again. */
const FORGIVEN = 60_000
/** Destinations of a participant whose health is remembered; of those without an attempt the oldest goes first. */
const REMEMBERED = 100

interface Health {
  inside: number
  /** `unknown`: one attempt at a time of those who make answers, until it has shown how it is. */
  health: 'healthy' | 'unknown' | 'failing'
  failedAt: number
}

/** Of a participant. */
interface Lane {
  inside: number
  tokens: number
  filledAt: number
  /** By origin, the longest not entered first. */
  readonly destinations: Map<string, Health>
}

/** @param now milliseconds of a clock that only goes forward */
export function createLanes(now: () => number = () => performance.now()): Lanes {
  const lanes = new Map<number, Lane>()
  let inside = 0
  let waiting: (() => void)[] = []

  const laneOf = (participant: number, rate: number): Lane => {
    const known = lanes.get(participant)
    if (known !== undefined) return known
    const made: Lane = { inside: 0, tokens: rate, filledAt: now(), destinations: new Map() }
    lanes.set(participant, made)
    return made
  }

  const enter = (
    { participant, origin }: Destination,
    { concurrency, rate }: LaneSettings,
  ): Place | number | null => {
    const lane = laneOf(participant, rate)
    const destination = lane.destinations.get(origin) ?? unknown()
    if (lane.inside >= concurrency || !mayEnter(lane, destination, concurrency)) return null
    const at = now()
    lane.tokens = Math.min(rate, lane.tokens + ((at - lane.filledAt) / 1_000) * rate)
    lane.filledAt = at
    if (lane.tokens < 1) return ((1 - lane.tokens) / rate) * 1_000
    lane.tokens -= 1
    remember(lane, origin, destination)
    lane.inside += 1
    destination.inside += 1
    inside += 1
    return placeIn(lane, destination)
  }

  const placeIn = (lane: Lane, destination: Health): Place => {
    let left = false
    let isSlow = false
    const fail = (): void => {
      destination.health = 'failing'
      destination.failedAt = now()
    }
    return {
      slow() {
        if (left) return
        isSlow = true
        fail()
      },
      leave(outcome) {
        if (left) return
        left = true
        lane.inside -= 1
        destination.inside -= 1
        inside -= 1
        if (outcome === 'unused') lane.tokens += 1
        else if (outcome === 'failing' || isSlow) fail()
        else destination.health = 'healthy'
        if (inside > 0) return
        for (const resolve of waiting) resolve()
        waiting = []
      },
    }
  }

  return {
    tryEnter(destination, settings) {
      const known = laneOf(destination.participant, settings.rate).destinations.get(destination.origin)
      if (known !== undefined) {
        if (known.health === 'failing' && now() - known.failedAt >= FORGIVEN) known.health = 'unknown'
        if (known.health === 'failing' || (known.health === 'unknown' && known.inside > 0)) return null
      }
      const place = enter(destination, settings)
      return typeof place === 'number' ? null : place
    },
    enter,
    idle: () => (inside === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(() => resolve()))),
  }
}

const unknown = (): Health => ({ inside: 0, health: 'unknown', failedAt: 0 })

/**
 * Of the places of a participant a destination that is not known to be healthy takes half at most, and all of them
 * together leave a quarter to those that are, where there is more than one place.
 */
function mayEnter({ destinations }: Lane, { inside, health }: Health, concurrency: number): boolean {
  if (health === 'healthy') return true
  if (inside >= Math.ceil(concurrency / 2)) return false
  let unwell = 0
  for (const other of destinations.values()) if (other.health !== 'healthy') unwell += other.inside
  return unwell < Math.max(1, concurrency - Math.ceil(concurrency / 4))
}

function remember({ destinations }: Lane, origin: string, destination: Health): void {
  destinations.delete(origin)
  destinations.set(origin, destination)
  if (destinations.size <= REMEMBERED) return
  for (const [other, { inside }] of destinations) {
    if (inside > 0 || other === origin) continue
    destinations.delete(other)
    return
  }
}
