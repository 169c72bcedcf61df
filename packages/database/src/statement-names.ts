import { LRUCache } from 'lru-cache'

/**
 * Gives names to searches, so that connections can prepare them. The shape of a search is its SQL text, without the values.
 * PostgreSQL parses a prepared search once. It plans a search for equal values once, and a search for a range anew for each
 * range. Peers choose the shapes of searches, and a connection never forgets what it prepared. So only the most recently used
 * shapes are remembered, and a shape gets a name when it comes for the second time. A name is never used for another shape.
 */
export class StatementNames {
  /** The remembered shapes by their SQL text, the least recently used first. */
  readonly #shapes = new Map<string, SearchShapeState>()
  /** SQL texts whose searches were slow under their names, with the time from which each text may get a name again. */
  readonly #withdrawn: LRUCache<string, number>
  /** The names of the statements that each connection has prepared. */
  readonly #prepared = new WeakMap<object, Set<string>>()
  readonly #limit: number
  readonly #now: () => number
  #given = 0

  /** @param limit the number of shapes that are remembered @param now milliseconds */
  constructor(limit: number, now = () => performance.now()) {
    this.#limit = limit
    this.#now = now
    this.#withdrawn = new LRUCache({ max: WITHDRAWN * limit })
  }

  /**
   * The name of a statement; undefined for a statement that is new, too long, or withdrawn because it was slow. When
   * there are too many shapes, the participant with the most shapes loses its least recently used one, so that no
   * participant uses more than its share.
   * @param participant the id of the participant; 0 for the operator
   */
  nameOf(text: string, participant: number): string | undefined {
    if (text.length > MOST_NAMED_SQL_CHARACTERS || this.#isWithdrawn(text)) return undefined
    const shape = this.#shapes.get(text) ?? { participant, name: null, slow: [] }
    if (this.#shapes.delete(text)) shape.name ??= `${STATEMENT_NAME_PREFIX}${++this.#given}`
    else if (this.#shapes.size >= this.#limit) this.#forgetOne(participant)
    this.#shapes.set(text, shape)
    return shape.name ?? undefined
  }

  /**
   * Forgets the least recently used shape of the participant that has the most shapes. If several have the most, `participant` is
   * chosen if it is among them.
   */
  #forgetOne(participant: number): void {
    const held = new Map<number, number>()
    for (const { participant: by } of this.#shapes.values()) held.set(by, (held.get(by) ?? 0) + 1)
    const most = Math.max(...held.values())
    const isMost = (by: number): boolean => held.get(by) === most
    for (const [text, { participant: by }] of this.#shapes) {
      if (!isMost(by) || (isMost(participant) && by !== participant)) continue
      this.#shapes.delete(text)
      return
    }
  }

  #isWithdrawn(text: string): boolean {
    const until = this.#withdrawn.get(text)
    return until !== undefined && until > this.#now()
  }

  /**
   * Notes that a search was slow under its name. The third time within ten minutes withdraws the name for an hour: PostgreSQL
   * then plans each such search for its own values. The one plan for all values may be slow for a frequent value: it reads a
   * whole index, although the first rows of the table would give enough matches. One or two slow searches may only mean a busy
   * machine.
   */
  wasSlow(text: string): void {
    const shape = this.#shapes.get(text)
    if (shape === undefined || shape.name === null) return
    const now = this.#now()
    shape.slow = [...shape.slow.filter((at) => at > now - SLOW_FOR), now]
    if (shape.slow.length < SLOW_SEARCHES_TO_LOSE_NAME) return
    this.#shapes.delete(text)
    this.#withdrawn.set(text, now + WITHDRAWN_FOR)
  }

  /** Notes that a connection has run, and so prepared, a statement under this name. Other names are ignored. */
  runs(connection: object, name: string | undefined): void {
    if (!name?.startsWith(STATEMENT_NAME_PREFIX)) return
    const names = this.#prepared.get(connection) ?? new Set()
    this.#prepared.set(connection, names.add(name))
  }

  /** True when a connection has prepared too many statements. The caller closes it, because nothing else frees them. */
  isFull(connection: object): boolean {
    return (this.#prepared.get(connection)?.size ?? 0) >= PREPARED * this.#limit
  }
}

interface SearchShapeState {
  /** The id of the participant that was the first to search with this shape. */
  readonly participant: number
  /** The name under which the shape is prepared; null until the shape comes for the second time. */
  name: string | null
  /** The times of the recent slow searches with this shape, in milliseconds. */
  slow: readonly number[]
}

const STATEMENT_NAME_PREFIX = 'search_'
/** The longest statement that gets a name, in characters. A longer one takes so long that a name saves little. */
const MOST_NAMED_SQL_CHARACTERS = 4_000
/** The number of slow searches after which a shape loses its name. */
const SLOW_SEARCHES_TO_LOSE_NAME = 3
/**
 * SLOW_FOR: milliseconds for which a slow search counts towards SLOW_SEARCHES_TO_LOSE_NAME. WITHDRAWN_FOR: milliseconds
 * until a withdrawn shape may get a name again.
 */
const [SLOW_FOR, WITHDRAWN_FOR] = [600_000, 3_600_000]
/** PREPARED times `#limit`: the most statements on a connection. WITHDRAWN times `#limit`: the most shapes that are withdrawn. */
const [PREPARED, WITHDRAWN] = [2, 10]
