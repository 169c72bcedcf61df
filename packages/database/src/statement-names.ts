import { LRUCache } from 'lru-cache'

/**
 * Names under which connections prepare searches: a prepared one is neither parsed nor analysed again, and once
 * PostgreSQL finds a plan for any values as good as those that it made for each, it is not planned again either. That
 * is half of the time of a search with few hits. Peers choose the shapes of searches, and a connection keeps what it
 * prepared. So only so many shapes are remembered, those that were used last; one that comes again gets a name. A name
 * is never given to a second shape, because on some connection it stands for the first.
 */
export class StatementNames {
  /** By text, the least recently used first. */
  readonly #shapes = new Map<string, Shape>()
  /** Texts that were slow under their name, with the time from which they may have one again. */
  readonly #withdrawn: LRUCache<string, number>
  /** The names that a connection has prepared. */
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
   * The statement's name; none for one that is seen for the first time, is long, or was withdrawn. When there are too many
   * shapes, the participant with the most loses the one that it has not used for the longest time, so that no participant can
   * push out those of others beyond an equal share.
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
   * A search was slow under its name. The third time within ten minutes takes the name back for an hour: each search of this
   * shape is planned for its own values meanwhile. A plan for any values reads all of an index for a value that half of the
   * records have, where the first rows of the table would do; once or twice it may be the machine, and a busy hour passes.
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

  /** Notes that a connection runs a statement under this name, if it is one of these. */
  runs(connection: object, name: string | undefined): void {
    if (!name?.startsWith(PREFIX)) return
    const names = this.#prepared.get(connection) ?? new Set()
    this.#prepared.set(connection, names.add(name))
  }

  /** Whether a connection has prepared so many that it has to be closed: only that frees those that nobody asks for any more. */
  isFull(connection: object): boolean {
    return (this.#prepared.get(connection)?.size ?? 0) >= PREPARED * this.#limit
  }
}

interface Shape {
  /** Who asked for it first. */
  readonly participant: number
  /** Null when it came once. */
  name: string | null
  /** When it was slow under its name, of late. Milliseconds. */
  slow: readonly number[]
}

const PREFIX = 'search_'
/** Characters. A longer one takes so long that its name does not matter. */
const NAMED_LENGTH = 4_000
/** Slow searches after which a name is withdrawn. */
const SLOW_TIMES = 3
/** Milliseconds for which a slow search counts, and for which a shape has no name. */
const [SLOW_FOR, WITHDRAWN_FOR] = [600_000, 3_600_000]
/** Names that a connection may have prepared, and withdrawn shapes that are remembered, for each shape that has a name. */
const [PREPARED, WITHDRAWN] = [2, 10]
