/**
 * Keeps a value that another system publishes, such as a key set or an access token. The value is fetched when it is needed, and
 * fetched again when it is no longer fresh. If that fails, the old value is used until its end. Callers at the same time share
 * one request.
 */

/** A fetched value. Times are in milliseconds from the start of the request. */
export interface Fetched<Value> {
  readonly value: Value
  /** The age from which the value is fetched again before it is used. */
  readonly fresh: number
  /** The age up to which the value is used when it cannot be fetched. */
  readonly usable: number
}

/** When a value may be fetched again, and when it is dropped. */
export interface RefreshRules {
  /**
   * The shortest time in milliseconds from the end of one request to the next: `withValue` while there is a value, `without`
   * while there is none. Without a pause, a peer that names unknown keys could make us send many requests.
   */
  readonly pause: { readonly withValue: number; readonly without: number }
  /** True when the stored value may still be used after fetching failed with this error. After other errors it is dropped. */
  readonly survives: (error: unknown) => boolean
  /** Returns the time in milliseconds of a clock that is never set back; `performance.now` by default. */
  readonly now?: () => number
}

/** The stored value. `since` is the time, by the clock `now`, at which the request for it began. */
interface StoredValue<Value> extends Fetched<Value> {
  readonly since: number
}

/** One value that is fetched when it is needed, remembered, and fetched again. */
export class Refreshed<Value> {
  readonly #rules: RefreshRules
  readonly #now: () => number
  #copy: StoredValue<Value> | undefined
  #endedAt = Number.NEGATIVE_INFINITY
  #problem: unknown
  #pending: Promise<Value> | undefined

  constructor(rules: RefreshRules) {
    this.#rules = rules
    const { now = () => performance.now() } = rules
    this.#now = now
  }

  /**
   * Returns the value. Fetches it if there is none, if it is no longer fresh, or if `enough` returns false for it, such as for a
   * key set without the wanted key. During the pause after a request, or when fetching fails, the stored value is returned.
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

  /** Drops the stored value if `isRefused` returns true for it. For a value that another system did not accept. */
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

  #age({ since }: StoredValue<Value>): number {
    return this.#now() - since
  }

  #usable(problem: unknown): Value {
    const copy = this.#copy
    if (copy !== undefined && this.#age(copy) <= copy.usable) return copy.value
    throw problem
  }
}
