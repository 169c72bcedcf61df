import { LRUCache } from 'lru-cache'

/**
 * Names under which connections prepare searches: a prepared one is neither parsed nor analysed again, and once
 * PostgreSQL finds a plan for any values as good as those that it made for each, it is not planned again either. That
 * is half of the time of a search with few hits. Peers choose the shapes of searches, and a connection keeps what it
 * prepared, so only so many shapes get a name, and only those that come again.
 */
export class StatementNames {
  /** Undefined where it was withdrawn: it counts, the connections have it. */
  readonly #names = new Map<string, string | undefined>()
  /** How often, of those with a name. */
  readonly #slow = new Map<string, number>()
  /** Shapes that came once. */
  readonly #once: LRUCache<string, true>
  readonly #limit: number

  /** @param limit how many names there are */
  constructor(limit: number) {
    this.#limit = limit
    this.#once = new LRUCache({ max: limit })
  }

  /** The statement's name; none for one that is seen for the first time, is long, or came when all were given. */
  nameOf(text: string): string | undefined {
    const known = this.#names.get(text)
    if (this.#names.has(text) || this.#names.size >= this.#limit || text.length > NAMED_LENGTH) return known
    if (!this.#once.delete(text)) {
      this.#once.set(text, true)
      return undefined
    }
    const name = `search_${this.#names.size + 1}`
    this.#names.set(text, name)
    if (this.#names.size >= this.#limit) this.#once.clear()
    return name
  }

  /**
   * A search was slow under its name. The third time takes the name back, for good: each search of this shape is
   * planned for its own values from now on. A plan for any values reads all of an index for a value that half of the
   * records have, where the first rows of the table would do; once or twice it may be the machine.
   */
  wasSlow(text: string): void {
    const times = (this.#slow.get(text) ?? 0) + 1
    this.#slow.set(text, times)
    if (times === SLOW_TIMES && this.#names.has(text)) this.#names.set(text, undefined)
  }
}

/** Characters. A longer one takes so long that its name does not matter. */
const NAMED_LENGTH = 4_000
/** Slow searches after which a name is withdrawn. */
const SLOW_TIMES = 3
