/**
 * Rates across nodes without a round trip for every request: a node takes tokens for a tenth of a second at a time from
 * the bucket that all nodes share, and hands them out from memory.
 * Over any time, all nodes together let through at most the bucket, the tokens that flow into it, and one slice for
 * each node.
 */
import type { Asked, Granted } from '../store/quotas.ts'

export interface Rates {
  /**
   * Takes one token. Returns 0 when there was one, otherwise the seconds until it is worth asking again. Rejects with
   * the errors of `take`: nothing passes uncounted.
   * @param rate tokens a second; Infinity: no limit
   */
  pass(bucket: string, rate: number): Promise<number>
  /** Gives back a token that was taken but not used. */
  giveBack(bucket: string): void
}

/** The tokens of one bucket on this node. */
interface Slice {
  /** Tokens at hand. */
  tokens: number
  /** Requests that wait for the result of `asking`. */
  waiting: number
  /** When the shared bucket, found empty, will have a slice again; milliseconds of `now`. */
  emptyUntil: number
  asking: Promise<void> | undefined
}

const SLICES_A_SECOND = 10

/**
 * @param take takes from the shared bucket (`takeTokens`)
 * @param now milliseconds of a clock that only goes forward
 */
export function createRates(take: (asked: Asked) => Promise<Granted>, now = () => performance.now()): Rates {
  const slices = new Map<string, Slice>()

  const sliceOf = (bucket: string): Slice => {
    const known = slices.get(bucket)
    if (known !== undefined) return known
    const made = { tokens: 0, waiting: 0, emptyUntil: 0, asking: undefined }
    slices.set(bucket, made)
    return made
  }

  const ask = async (bucket: string, slice: Slice, rate: number): Promise<void> => {
    const size = sizeOf(rate)
    const wanted = Math.max(1, size - slice.tokens, slice.waiting)
    const { granted, left } = await take({ bucket, rate, capacity: capacityOf(rate), wanted })
    slice.tokens += granted
    if (granted < wanted) slice.emptyUntil = now() + ((size - left) / rate) * 1_000
  }

  /** One refill at a time: all waiting requests share it. */
  const refill = (bucket: string, slice: Slice, rate: number): Promise<void> => {
    slice.asking ??= ask(bucket, slice, rate).finally(() => {
      slice.asking = undefined
    })
    return slice.asking
  }

  return {
    async pass(bucket, rate) {
      if (rate === Number.POSITIVE_INFINITY) return 0
      const slice = sliceOf(bucket)
      for (;;) {
        if (slice.tokens >= 1) {
          slice.tokens -= 1
          // Refill early, so that nobody has to wait for the next slice; but not when a slice is a single token, which
          // another node may need. If this fails, the next request that needs a token asks again.
          const low = slice.tokens < sizeOf(rate) / 2 && slice.tokens > 0
          if (low && now() >= slice.emptyUntil) refill(bucket, slice, rate).catch(() => undefined)
          return 0
        }
        const wait = slice.emptyUntil - now()
        if (wait > 0) return wait / 1_000
        slice.waiting += 1
        try {
          await refill(bucket, slice, rate)
        } finally {
          slice.waiting -= 1
        }
      }
    },
    giveBack(bucket) {
      const slice = slices.get(bucket)
      if (slice !== undefined) slice.tokens += 1
    },
  }
}

/** Tokens that a node takes at a time. */
const sizeOf = (rate: number): number => Math.max(1, Math.floor(rate / SLICES_A_SECOND))

/** A burst may use up what a whole second allows. */
const capacityOf = (rate: number): number => Math.max(1, Math.ceil(rate))
