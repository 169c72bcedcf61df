import { LRUCache } from 'lru-cache'

/**
 * Names under which connections prepare searches. A prepared search is not parsed and analysed again; and when
 * PostgreSQL finds a generic plan as good as its plans for single values, it is not planned again either. That is half
 * of the time of a search with few hits. Peers choose the shapes of searches, and a connection keeps what it prepared.
 * So only the most recently used shapes are remembered; one that comes again gets a name. A name is never given to a
 * second shape, because some connection may have prepared the first one under it.
 */
export class StatementNames {
  /** By text, the least recently used first. */
  readonly #shapes = new Map<string, Shape>()
  /** Texts that were slow under their name, with the time from which they may get a name again. */
  readonly #withdrawn: LRUCache<string, number>
  /** Names that a connection has prepared. */
  readonly #prepared = new WeakMap<object, Set<string>>()
  readonly #limit: number
  readonly #now: () => number
  #given = 0

  /**
   * @param limit how many shapes are remembered
   * @param now milliseconds
   */
  constructor(limit: number, now = () => performance.now()) {
    this.#limit = limit
    this.#now = now
    this.#withdrawn = new LRUCache({ max: WITHDRAWN * limit })
  }

  /**
   * The statement's name; undefined for a statement that is new, long, or withdrawn. When there are too many shapes,
   * the participant with the most loses its least recently used one, so that no participant pushes out others' shapes
   * beyond an equal share.
   * @param participant its id; 0 is the operator
   */
  nameOf(text: string, participant: number): string | undefined {
    if (text.length > NAMED_LENGTH || this.#isWithdrawn(text)) return undefined
    const shape = this.#shapes.get(text) ?? { participant, name: null, slow: [] }
    if (this.#shapes.delete(text)) shape.name ??= `${PREFIX}${++this.#given}`
    else if (this.#shapes.size >= this.#limit) this.#forgetOne(participant)
    this.#shapes.set(text, shape)
    return shape.name ?? undefined
  }

  /** @param participant gives way where others have as many */
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
   * Notes that a search was slow under its name. The third time within ten minutes withdraws the name for an hour: each
   * search of this shape is then planned for its own values. A generic plan may read a whole index for a value of half
   * of the records, where the table's first rows would do; a busy machine may be slow once or twice.
   */
  wasSlow(text: string): void {
    const shape = this.#shapes.get(text)
    if (shape === undefined || shape.name === null) return
    const now = this.#now()
    shape.slow = [...shape.slow.filter((at) => at > now - SLOW_FOR), now]
    if (shape.slow.length < SLOW_TIMES) return
    this.#shapes.delete(text)
    this.#withdrawn.set(text, now + WITHDRAWN_FOR)
  }

  /** Notes that a connection runs a statement under this name; names of others are ignored. */
  runs(connection: object, name: string | undefined): void {
    if (!name?.startsWith(PREFIX)) return
    const names = this.#prepared.get(connection) ?? new Set()
    this.#prepared.set(connection, names.add(name))
  }

  /** True when a connection has prepared so many that it has to be closed: nothing else frees unused ones. */
  isFull(connection: object): boolean {
    return (this.#prepared.get(connection)?.size ?? 0) >= PREPARED * this.#limit
  }
}

interface Shape {
  /** The participant that asked for the shape first. */
  readonly participant: number
  /** Null until it comes a second time. */
  name: string | null
  /** Times of its recent slow searches, in milliseconds. */
  slow: readonly number[]
}

const PREFIX = 'search_'
/** Characters of a statement that gets a name. A longer one takes so long that a name saves nothing. */
const NAMED_LENGTH = 4_000
/** Slow searches after which a name is withdrawn. */
const SLOW_TIMES = 3
/** Milliseconds for which a slow search is remembered, and for which a withdrawn shape has no name. */
const [SLOW_FOR, WITHDRAWN_FOR] = [600_000, 3_600_000]
/** Both are multiples of the limit of named shapes: statements that a connection prepares, and withdrawn shapes. */
const [PREPARED, WITHDRAWN] = [2, 10]
