/**
 * Limits requests a second on all nodes together, without a database query for every request: a node takes a slice,
 * the tokens of a tenth of a second (more if more requests wait), from the bucket that all nodes share, and hands them out from
 * memory. In any period all nodes together let through at most a full bucket, the tokens that flow into the bucket in
 * the period, and one slice for each node.
 */
import type { TokensTaken, TokensWanted } from '../store/quotas.ts'

/** The rates of requests, each with a bucket that all nodes share. */
export interface RateLimiter {
  /**
   * Takes one token, unless there is no limit.
   * @param rate tokens a second; Infinity: no limit
   * @returns 0 when the request may pass; otherwise the seconds after which the caller should try again. It rejects
   * with the errors of `take`: no request passes without being counted.
   */
  pass(bucket: string, rate: number): Promise<number>
  /** Gives back a token that was taken but not used. */
  giveBack(bucket: string): void
}

/** The tokens that this node has taken from one shared bucket. */
interface TokenSlice {
  /** Tokens that requests on this node may still take. */
  tokens: number
  /** The number of requests on this node that wait for tokens. */
  waiting: number
  /** The time until which the shared bucket has too few tokens for a slice, in milliseconds of `now`. */
  emptyUntil: number
  /** Ends when the shared bucket has answered; undefined while it is not asked for tokens. */
  asking: Promise<void> | undefined
}

const TOKEN_SLICES_A_SECOND = 10

/**
 * Creates the rates of this node.
 * @param take takes tokens from the shared bucket (`takeTokens`)
 * @param now milliseconds of a clock that only goes forward
 */
export function createRateLimiter(
  take: (asked: TokensWanted) => Promise<TokensTaken>,
  now = () => performance.now(),
): RateLimiter {
  const slices = new Map<string, TokenSlice>()

  const sliceOf = (bucket: string): TokenSlice => {
    const known = slices.get(bucket)
    if (known !== undefined) return known
    const made = { tokens: 0, waiting: 0, emptyUntil: 0, asking: undefined }
    slices.set(bucket, made)
    return made
  }

  const ask = async (bucket: string, slice: TokenSlice, rate: number): Promise<void> => {
    const size = tokensPerSlice(rate)
    const wanted = Math.max(1, size - slice.tokens, slice.waiting)
    // The tokens of a whole second may be used at once.
    const { granted, left } = await take({ bucket, rate, capacity: Math.max(1, Math.ceil(rate)), wanted })
    slice.tokens += granted
    if (granted < wanted) slice.emptyUntil = now() + ((size - left) / rate) * 1_000
  }

  /** Takes a slice from the shared bucket. One refill of a bucket runs at a time; all waiting requests share it. */
  const refill = (bucket: string, slice: TokenSlice, rate: number): Promise<void> => {
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
          // The slice is refilled while it still has tokens, so that few requests wait. A slice of one token is not
          // refilled early: another node may need that token. If the refill fails, the next request that needs a token
          // begins another refill.
          const low = slice.tokens < tokensPerSlice(rate) / 2 && slice.tokens > 0
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

/** The number of tokens in a slice, which a node takes at a time. */
const tokensPerSlice = (rate: number): number => Math.max(1, Math.floor(rate / TOKEN_SLICES_A_SECOND))
