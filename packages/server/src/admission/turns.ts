/** One piece of work at a time for each key; what comes meanwhile has its turn in the order in which it came. */

export interface Turns {
  /** Takes the next turn of the key. */
  take(key: string): Turn
}

export interface Turn {
  /** Resolves when the turns before it have ended. */
  readonly begun: Promise<void>
  /** More than once does no harm. */
  end(): void
}

export function createTurns(): Turns {
  /** By key, when the last turn that was taken has ended. */
  const last = new Map<string, Promise<void>>()
  return {
    take(key) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const begun = last.get(key) ?? Promise.resolve()
      const ended = begun.then(() => promise)
      last.set(key, ended)
      void ended.then(() => {
        if (last.get(key) === ended) last.delete(key)
      })
      return { begun, end: resolve }
    },
  }
}

/** Does the work in a turn of the key. Throws what the work throws. */
export async function inTurn<Result>(
  turns: Turns,
  key: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const turn = turns.take(key)
  await turn.begun
  return work().finally(turn.end)
}
