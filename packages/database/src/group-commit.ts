/**
 * Groups small writes, and small reads. An entry is what one caller writes or reads. Entries that are submitted while a statement
 * runs share the next statement.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { oncePerObject } from '@rollcall/core/model/once-per'
import type pg from 'pg'
import { isUnavailable, StoreBusy } from './database-errors.ts'

export interface GroupCommit<Entry, Result> {
  /**
   * Adds an entry to the queue. Resolves with its result when its statement has run. Entries are in statements in the order of
   * the calls. Rejects with StoreBusy when too many entries are waiting, or with the error of the statement.
   */
  submit(entry: Entry): Promise<Result>
  /** Resolves when no entry waits and no statement runs. */
  idle(): Promise<void>
}

interface WaitingEntry<Entry, Result> {
  readonly entry: Entry
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** The largest number of entries in one statement. More would make the first entry wait too long. */
const MOST_ENTRIES_PER_STATEMENT = 500

interface GroupCommitOptions {
  readonly waiting: number
  readonly together?: number
  readonly failWaiting?: boolean
}

/**
 * Makes a group commit: a queue whose entries share statements.
 * @param run runs one statement for all entries, and returns one result for each in order; calls do not overlap
 * @param options.waiting the number of entries that may wait
 * @param options.together the number of entries in one statement
 * @param options.failWaiting whether entries that wait fail too when the database is away or too slow: each further
 * statement could take as long as the failed one
 */
export function createGroupCommit<Entry, Result>(
  run: (entries: readonly Entry[]) => Promise<readonly Result[]>,
  { waiting, together = MOST_ENTRIES_PER_STATEMENT, failWaiting = false }: GroupCommitOptions,
): GroupCommit<Entry, Result> {
  const queue: WaitingEntry<Entry, Result>[] = []
  let running = false
  let work: Promise<void> = Promise.resolve()

  const settle = async (group: readonly WaitingEntry<Entry, Result>[]): Promise<void> => {
    try {
      const results = await run(group.map(({ entry }) => entry))
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result)
    } catch (error) {
      // When the database is away or too slow, smaller groups of entries would fail too.
      const isAway = isUnavailable(error)
      if (group.length === 1 || isAway) {
        const alsoFailed = isAway && failWaiting ? queue.splice(0) : []
        for (const { reject } of [...group, ...alsoFailed]) reject(error)
        return
      }
      // One entry whose statement fails must not fail the others: two halves are tried, down to single entries.
      const half = group.length >> 1
      await settle(group.slice(0, half))
      await settle(group.slice(half))
    }
  }

  const runAll = async (): Promise<void> => {
    running = true
    while (queue.length > 0) {
      // Wait one turn of the event loop: other requests that can continue now add their entries to the same statement.
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
        if (!running) work = runAll()
      })
    },
    async idle() {
      while (running) await work
    },
  }
}

/** Returns a function that makes a value, such as a group commit, once for each pool. */
export const oncePerPool: <Value>(make: (pool: pg.Pool) => Value) => (pool: pg.Pool) => Value = oncePerObject

/**
 * Stores one row for each key: the first call that writes a key wins, and later calls get its row. The row is committed
 * before the caller goes on, so of any number of callers on any number of nodes exactly one is first.
 */
export interface OneRowPerKeyStore<Entry, Stored> {
  /** Stores a row, or finds the row of its key. Rejects with StoreBusy, or a database error: then the row may exist or not. */
  remember(entry: Entry): Promise<RememberResult<Stored>>
}

/** The result of a call to `remember`. */
export interface RememberResult<Stored> {
  /** True when this call of `remember` wrote the row. */
  readonly first: boolean
  /** The stored row, whether this or an earlier call wrote it. */
  readonly stored: Stored
}

/** The functions on a table with which a `OneRowPerKeyStore` stores and finds rows. */
export interface OneRowPerKeyTable<Entry, Stored> {
  /** Returns a text that is equal for two entries exactly when they are for the same row. */
  key(entry: Entry): string
  stored(entry: Entry): Stored
  /** Returns the bytes of the members that may be long, such as the body of a message. Absent when all entries are small. */
  bytes?(entry: Entry): number
  /** Inserts those entries whose keys are new, in one statement, and returns these keys. */
  insert(entries: readonly Entry[]): Promise<readonly string[]>
  /** Reads the stored rows of these entries, by key. */
  find(entries: readonly Entry[]): Promise<ReadonlyMap<string, Stored>>
}

/** The most tries to insert or read a row. A row that is deleted between insert and read needs another try. */
const MOST_INSERT_TRIES = 3

/** The bytes from which an entry gets a statement of its own, so that it delays no smaller entry and fails alone. */
export const LEAST_LARGE_ENTRY_BYTES = 262_144

/** Makes a `OneRowPerKeyStore` for a table. @param options.waiting the number of calls that may wait for a statement */
export function createOneRowPerKeyStore<Entry, Stored>(
  table: OneRowPerKeyTable<Entry, Stored>,
  options: { readonly waiting: number },
): OneRowPerKeyStore<Entry, Stored> {
  const write = async (entries: readonly Entry[]): Promise<readonly RememberResult<Stored>[]> => {
    const firsts = new Map<string, Entry>()
    for (const entry of entries) {
      const key = table.key(entry)
      if (!firsts.has(key)) firsts.set(key, entry)
    }
    const { added, stored } = await insertOrFind(table, firsts)
    return entries.map((entry) => {
      const key = table.key(entry)
      // `delete` returns true only once: of several entries with one key in a statement, only one is `first`.
      return { first: added.delete(key), stored: stored.get(key) as Stored }
    })
  }
  const small = createGroupCommit(write, options)
  const large = createGroupCommit(write, { ...options, together: 1 })
  return { remember: (entry) => ((table.bytes?.(entry) ?? 0) < LEAST_LARGE_ENTRY_BYTES ? small : large).submit(entry) }
}

async function insertOrFind<Entry, Stored>(
  table: OneRowPerKeyTable<Entry, Stored>,
  entries: ReadonlyMap<string, Entry>,
): Promise<{ added: Set<string>; stored: Map<string, Stored> }> {
  const added = new Set<string>()
  const stored = new Map<string, Stored>()
  // All nodes insert in the same order of keys, so that two statements do not deadlock.
  let open = [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
  for (let tries = 0; open.length > 0; tries += 1) {
    if (tries === MOST_INSERT_TRIES) throw new Error('rows are deleted again and again while they are read')
    for (const key of await table.insert(open.map(([, entry]) => entry))) {
      added.add(key)
      stored.set(key, table.stored(entries.get(key) as Entry))
    }
    open = open.filter(([key]) => !stored.has(key))
    if (open.length === 0) break
    // The insert cannot see rows that others committed while it ran, so a second statement reads them.
    for (const [key, value] of await table.find(open.map(([, entry]) => entry))) stored.set(key, value)
    open = open.filter(([key]) => !stored.has(key))
  }
  return { added, stored }
}
