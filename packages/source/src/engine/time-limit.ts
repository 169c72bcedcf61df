/** Limits the time for which a connection waits for an answer. */

/** The time limit of one connection, which waits for one answer at a time. All its waits share one timer, to save time. */
export class AnswerTimeLimit {
  #late: (() => void) | null = null
  readonly #timer: NodeJS.Timeout
  readonly #lateError: () => Error

  /** @param milliseconds for each answer @param lateError makes the error of a late answer, in the words of the driver */
  constructor(milliseconds: number, lateError: () => Error) {
    this.#lateError = lateError
    this.#timer = setTimeout(() => this.#late?.(), milliseconds).unref()
  }

  /** Waits for an answer. @throws the error for a late answer, or the error of the answer itself */
  wait<Result>(answer: Promise<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const rejectAsLate = (): void => reject(this.#lateError())
    const end = (): void => {
      // When this answer comes late, the wait for the next answer may have begun. The time limit of that wait must stay.
      if (this.#late === rejectAsLate) this.#late = null
    }
    this.#late = rejectAsLate
    this.#timer.refresh()
    answer.finally(end).then(resolve, reject)
    return promise
  }
}
