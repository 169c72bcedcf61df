/** Groups small writes: entries that come during a statement, or in one turn of the event loop, share the next one. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type pg from 'pg'
import { isUnavailable, StoreBusy } from './database-errors.ts'

export interface GroupCommit<Entry, Result> {
  /**
   * Queues an entry; resolves with its result once its statement is committed. Alone it costs one round trip; under
   * load one round trip carries all entries that came during the one before. Entries are written in the order of their
   * calls. Rejects with StoreBusy when too many are waiting, or with what the write threw.
   */
  submit(entry: Entry): Promise<Result>
  /** Resolves when no entry waits and no statement runs. */
  idle(): Promise<void>
}

interface Waiting<Entry, Result> {
  readonly entry: Entry
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** Most entries of one statement: enough to share a commit, few enough that the first one need not wait long. */
const MOST_TOGETHER = 500

interface GroupCommitOptions {
  readonly waiting: number
  readonly together?: number
}

/**
 * @param write one statement for all entries, with one result for each in order; its calls do not overlap
 * @param options.waiting entries that may wait; each holds a request
 * @param options.together entries in one statement
 */
export function groupCommit<Entry, Result>(
  write: (entries: readonly Entry[]) => Promise<readonly Result[]>,
  { waiting, together = MOST_TOGETHER }: GroupCommitOptions,
): GroupCommit<Entry, Result> {
  const queue: Waiting<Entry, Result>[] = []
  let running = false
  let work: Promise<void> = Promise.resolve()

  const settle = async (group: readonly Waiting<Entry, Result>[]): Promise<void> => {
    try {
      const results = await write(group.map(({ entry }) => entry))
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result)
    } catch (error) {
      // When the database is away every smaller group would fail as well, only later.
      if (group.length === 1 || isUnavailable(error)) {
        for (const { reject } of group) reject(error)
        return
      }
      // One entry that cannot be written must not fail the others; halves find it in a few statements.
      const half = group.length >> 1
      await settle(group.slice(0, half))
      await settle(group.slice(half))
    }
  }

  const run = async (): Promise<void> => {
    running = true
    while (queue.length > 0) {
      // Requests that one read of the sockets, or one commit, lets continue submit their entries within this turn.
      await nextTurn()
      await settle(queue.splice(0, together))
    }
    running = false
  }

  return {
    submit(entry) {
      if (queue.length >= waiting) return Promise.reject(new StoreBusy())
      return new Promise((resolve, reject) => {
        queue.push({ entry, resolve, reject })
        if (!running) work = run()
      })
    },
    async idle() {
      while (running) await work
    },
  }
}

/** One value for each pool, such as a group commit: made at the first call, and forgotten with the pool. */
export function perPool<Value>(make: (pool: pg.Pool) => Value): (pool: pg.Pool) => Value {
  const made = new WeakMap<pg.Pool, Value>()
  return (pool) => {
    const known = made.get(pool)
    if (known !== undefined) return known
    const value = make(pool)
    made.set(pool, value)
    return value
  }
}

/**
 * A durable memory: the first writer of a key wins, and later callers get what the first one wrote. The row is written
 * before its work begins, so exactly one of any number of concurrent callers, on any number of nodes, is the first.
 */
export interface FirstCome<Entry, Stored> {
  /** Rejects with StoreBusy, or with an error of the database; then it is unknown whether the row exists. */
  remember(entry: Entry): Promise<Remembered<Stored>>
}

export interface Remembered<Stored> {
  /** This call wrote the row. */
  readonly first: boolean
  /** The content of the row, whichever call wrote it. */
  readonly stored: Stored
}

export interface FirstComeTable<Entry, Stored> {
  /** The row's key as text; the same for the same row only. */
  key(entry: Entry): string
  stored(entry: Entry): Stored
  /** Bytes of the entry's parts of variable size. Absent: none. */
  bytes?(entry: Entry): number
  /** Inserts the entries with new keys, in one statement; returns these keys. */
  insert(entries: readonly Entry[]): Promise<readonly string[]>
  /** The stored content by key. */
  find(entries: readonly Entry[]): Promise<ReadonlyMap<string, Stored>>
}

/** A row that an insert meets and a look-up misses was deleted between; this many times in a row is a fault. */
const TRIES = 3

/** Bytes from which an entry has its own statement, so that it delays no other entry, and fails alone. */
export const LARGE_ENTRY_BYTES = 262_144

/** @param options.waiting calls that may wait for a statement at a time */
export function firstCome<Entry, Stored>(
  table: FirstComeTable<Entry, Stored>,
  options: { readonly waiting: number },
): FirstCome<Entry, Stored> {
  const write = async (entries: readonly Entry[]): Promise<readonly Remembered<Stored>[]> => {
    const firsts = new Map<string, Entry>()
    for (const entry of entries) {
      const key = table.key(entry)
      if (!firsts.has(key)) firsts.set(key, entry)
    }
    const { added, stored } = await resolve(table, firsts)
    return entries.map((entry) => {
      const key = table.key(entry)
      // Deleting lets the first of several equal entries in one statement be the first, and no other.
      return { first: added.delete(key), stored: stored.get(key) as Stored }
    })
  }
  const small = groupCommit(write, options)
  const large = groupCommit(write, { ...options, together: 1 })
  return { remember: (entry) => ((table.bytes?.(entry) ?? 0) < LARGE_ENTRY_BYTES ? small : large).submit(entry) }
}

async function resolve<Entry, Stored>(
  table: FirstComeTable<Entry, Stored>,
  entries: ReadonlyMap<string, Entry>,
): Promise<{ added: Set<string>; stored: Map<string, Stored> }> {
  const added = new Set<string>()
  const stored = new Map<string, Stored>()
  // One order on every node: two statements that wait for each other's rows would be a deadlock.
  let open = [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
  for (let tries = 0; open.length > 0; tries += 1) {
    if (tries === TRIES) throw new Error('rows are deleted again and again while they are read')
    for (const key of await table.insert(open.map(([, entry]) => entry))) {
      added.add(key)
      stored.set(key, table.stored(entries.get(key) as Entry))
    }
    open = open.filter(([key]) => !stored.has(key))
    if (open.length === 0) break
    // A second statement: the insert cannot see what others committed while it ran.
    for (const [key, value] of await table.find(open.map(([, entry]) => entry))) stored.set(key, value)
    open = open.filter(([key]) => !stored.has(key))
  }
  return { added, stored }
}
