/** Many small writes as one: what arrives while a statement runs goes together into the next. */
import { isUnavailable, StoreBusy } from './database-errors.ts'

export interface GroupCommit<Entry, Result> {
  /**
   * Hands in an entry; resolves with its result once the statement that carries it is committed. Alone it
   * costs one round trip; under load a round trip carries all that came during the one before.
   * Rejects with StoreBusy when too many are waiting, or with what the write threw.
   */
  submit(entry: Entry): Promise<Result>
}

interface Waiting<Entry, Result> {
  readonly entry: Entry
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** Entries in one statement: enough to share a commit, few enough that the first need not wait long. */
const MOST_TOGETHER = 500

/**
 * @param write one statement for all entries, one result for each in their order; never called twice at a time
 * @param options.waiting entries that may wait; each holds a request
 * @param options.together entries in one statement
 */
export function groupCommit<Entry, Result>(
  write: (entries: readonly Entry[]) => Promise<readonly Result[]>,
  { waiting, together = MOST_TOGETHER }: { readonly waiting: number; readonly together?: number },
): GroupCommit<Entry, Result> {
  const queue: Waiting<Entry, Result>[] = []
  let running = false

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
    while (queue.length > 0) await settle(queue.splice(0, together))
    running = false
  }

  return {
    submit(entry) {
      if (queue.length >= waiting) return Promise.reject(new StoreBusy())
      return new Promise((resolve, reject) => {
        queue.push({ entry, resolve, reject })
        if (!running) void run()
      })
    },
  }
}
