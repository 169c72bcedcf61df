/**
 * A value that somebody else publishes for a while, such as a key set or an access token: fetched when it is needed,
 * fetched again before it ends, and used to its end while it cannot be fetched. All who wait share one request.
 */

/** Times in milliseconds, counted from the beginning of the request. */
export interface Fetched<Value> {
  readonly value: Value
  /** From this age on it is fetched before it is used. */
  readonly fresh: number
  /** Up to this age it is used when it cannot be fetched. */
  readonly usable: number
}

export interface RefreshRules {
  /**
   * Milliseconds between two requests: while there is a value, and while there is none. A peer that names unknown keys
   * must not make us send a request for each.
   */
  readonly pause: { readonly withValue: number; readonly without: number }
  /** Whether the value stays good after this failure. After any other failure it is dropped. */
  readonly survives: (error: unknown) => boolean
  /** Milliseconds of a clock. */
  readonly now?: () => number
}

interface Copy<Value> extends Fetched<Value> {
  readonly since: number
}

export class Refreshed<Value> {
  readonly #rules: RefreshRules
  readonly #now: () => number
  #copy: Copy<Value> | undefined
  #endedAt = Number.NEGATIVE_INFINITY
  #problem: unknown
  #pending: Promise<Value> | undefined

  constructor(rules: RefreshRules) {
    this.#rules = rules
    this.#now = rules.now ?? Date.now
  }

  /**
   * The value. It is fetched when there is none, when it is old, or when it is not `enough` for the caller, but not during
   * the pause after a request. When there is no better value, one that is not enough is returned.
   * @throws what `fetch` throws, when there is no value that can be used
   */
  async get(fetch: () => Promise<Fetched<Value>>, enough: (value: Value) => boolean = () => true): Promise<Value> {
    const copy = this.#copy
    if (copy !== undefined && this.#age(copy) < copy.fresh && enough(copy.value)) return copy.value
    const { withValue, without } = this.#rules.pause
    const pause = copy === undefined ? without : withValue
    const may = this.#pending !== undefined || this.#now() - this.#endedAt >= pause
    if (!may) return this.#usable(this.#problem)
    try {
      this.#pending ??= this.#fetch(fetch)
      return await this.#pending
    } catch (error) {
      return this.#usable(error)
    }
  }

  /** Forgets the value when it was refused. */
  drop(isRefused: (value: Value) => boolean): void {
    if (this.#copy !== undefined && isRefused(this.#copy.value)) this.#copy = undefined
  }

  async #fetch(fetch: () => Promise<Fetched<Value>>): Promise<Value> {
    const since = this.#now()
    try {
      const fetched = await fetch()
      this.#copy = { ...fetched, since }
      return fetched.value
    } catch (error) {
      this.#problem = error
      if (!this.#rules.survives(error)) this.#copy = undefined
      throw error
    } finally {
      this.#endedAt = this.#now()
      this.#pending = undefined
    }
  }

  #age({ since }: Copy<Value>): number {
    return this.#now() - since
  }

  #usable(problem: unknown): Value {
    const copy = this.#copy
    if (copy !== undefined && this.#age(copy) <= copy.usable) return copy.value
    throw problem
  }
}
