/**
 * Who is sent something right now, on this node: a participant has as many places as its settings say, and takes
 * them no faster than its rate. A healthy participant is attempted by whoever has an answer for it; one whose last
 * attempt failed or was slow is left to its own `drain` job, so that it holds up nobody else.
 */

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
  /** A place of a healthy participant; null when there is none now. */
  tryEnter(participant: number, settings: LaneSettings): Place | null
  /** A place whatever its health: or the milliseconds until it is worth asking again; null: when a place is left. */
  enter(participant: number, settings: LaneSettings): Place | number | null
  /** Resolves when all places are left. */
  idle(): Promise<void>
}

/** Milliseconds from which an attempt is slow. */
export const SLOW = 1_000
/** Milliseconds after which one that was not healthy is given one place to show that it is again. */
const FORGIVEN = 60_000

interface Lane {
  inside: number
  /** `unknown`: one attempt at a time until it has shown how it is. */
  health: 'healthy' | 'unknown' | 'failing'
  failedAt: number
  tokens: number
  filledAt: number
}

/** @param now milliseconds of a clock that only goes forward */
export function createLanes(now: () => number = () => performance.now()): Lanes {
  const lanes = new Map<number, Lane>()
  let inside = 0
  let waiting: (() => void)[] = []

  const laneOf = (participant: number, rate: number): Lane => {
    const known = lanes.get(participant)
    if (known !== undefined) return known
    const made: Lane = { inside: 0, health: 'unknown', failedAt: 0, tokens: rate, filledAt: now() }
    lanes.set(participant, made)
    return made
  }

  const enter = (participant: number, { concurrency, rate }: LaneSettings): Place | number | null => {
    const lane = laneOf(participant, rate)
    if (lane.inside >= concurrency) return null
    const at = now()
    lane.tokens = Math.min(rate, lane.tokens + ((at - lane.filledAt) / 1_000) * rate)
    lane.filledAt = at
    if (lane.tokens < 1) return ((1 - lane.tokens) / rate) * 1_000
    lane.tokens -= 1
    lane.inside += 1
    inside += 1
    return placeIn(lane)
  }

  const placeIn = (lane: Lane): Place => {
    let left = false
    let isSlow = false
    const fail = (): void => {
      lane.health = 'failing'
      lane.failedAt = now()
    }
    return {
      slow() {
        isSlow = true
        fail()
      },
      leave(outcome) {
        if (left) return
        left = true
        lane.inside -= 1
        inside -= 1
        if (outcome === 'unused') lane.tokens += 1
        else if (outcome === 'failing' || isSlow) fail()
        else lane.health = 'healthy'
        if (inside > 0) return
        for (const resolve of waiting) resolve()
        waiting = []
      },
    }
  }

  return {
    tryEnter(participant, settings) {
      const lane = laneOf(participant, settings.rate)
      if (lane.health === 'failing' && now() - lane.failedAt >= FORGIVEN) lane.health = 'unknown'
      if (lane.health === 'failing' || (lane.health === 'unknown' && lane.inside > 0)) return null
      const place = enter(participant, settings)
      return typeof place === 'number' ? null : place
    },
    enter,
    idle: () => (inside === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(() => resolve()))),
  }
}
