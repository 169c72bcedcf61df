/**
 * A value that another system publishes, such as a key set or an access token. It is fetched when it is needed, fetched
 * again before it ends, and used until its end if it cannot be fetched. Concurrent callers share one request.
 */

/** Times in milliseconds, counted from the beginning of the request. */
export interface Fetched<Value> {
  readonly value: Value
  /** From this age on, it is fetched before it is used. */
  readonly fresh: number
  /** Up to this age, it is used if it cannot be fetched. */
  readonly usable: number
}

export interface RefreshRules {
  /**
   * Milliseconds between two requests, with and without a value. A peer that names unknown keys must not make us send a
   * request for each.
   */
  readonly pause: { readonly withValue: number; readonly without: number }
  /** Whether the value may still be used after this failure. After other failures it is dropped. */
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
   * The value. It is fetched if there is none, if it is old, or if it is not `enough` for the caller, but not during
   * the pause after a request. If there is no better value, one that is not enough is returned.
   * @throws the errors of `fetch`, when there is no usable value
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
