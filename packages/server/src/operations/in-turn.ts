/** One piece of work at a time; what comes meanwhile waits, and has its turn in the order in which it came. */

/** Does the work in its turn. Throws what the work throws. */
export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

export function createInTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work)
    // Neither its result nor its failure is the next one's.
    last = result.then(
      () => undefined,
      () => undefined,
    )
    return result
  }
}
