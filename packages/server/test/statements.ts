/**
 * The statements that this process sends to PostgreSQL, for tests which show that two questions cause the same ones.
 */
import pg from 'pg'

export interface Statements {
  /** Returns the result of the work, and the sorted texts of its statements, without those that set up a connection. */
  during<Result>(work: () => Promise<Result>): Promise<{ readonly result: Result; readonly statements: string[] }>
  /**
   * Returns the results and statements of both, as `during` does. The server must do nothing by itself meanwhile: its
   * clock stands still, and it has no background tasks (`QUIET`).
   */
  compared<Result>(
    one: () => Promise<Result>,
    other: () => Promise<Result>,
  ): Promise<{ readonly results: readonly [Result, Result]; readonly statements: readonly [string[], string[]] }>
  /** Stops the listening; call it when the tests have ended. */
  stop(): void
}

interface SentStatement {
  readonly text?: string
  readonly values?: readonly unknown[]
  readonly cursor?: { readonly text?: string }
}
type Sent = string | SentStatement

/** Statements that set up each new connection: when one is opened depends on what runs at the time. */
const SETTING_UP = /^set /i

/** One statement for several look-ups: how many share it depends on what else runs at the time. */
const SHARED = /\) with ordinality as asked \(/

/** A statement that look-ups share counts once for each of them. */
function timesOf(given: Sent, text: string): number {
  const [first] = typeof given === 'string' ? [] : (given.values ?? [])
  return SHARED.test(text.replaceAll(/\s+/g, ' ')) && Array.isArray(first) ? first.length : 1
}

/**
 * Begins to note statements; one at a time in a process.
 * @param unless statements that are not noted
 */
export function noteStatements(unless: RegExp): Statements {
  const { prototype } = pg.Client
  const { query } = prototype
  const sent: string[] = []
  Object.assign(prototype, {
    query(this: pg.Client, given: Sent, ...others: unknown[]) {
      const text = typeof given === 'string' ? given : (given.text ?? given.cursor?.text ?? '')
      if (!SETTING_UP.test(text) && !unless.test(text)) sent.push(...Array(timesOf(given, text)).fill(text))
      return Reflect.apply(query, this, [given, ...others])
    },
  })
  const during = async <Result>(work: () => Promise<Result>) => {
    sent.length = 0
    const result = await work()
    return { result, statements: sent.toSorted() }
  }
  return {
    during,
    async compared(one, other) {
      const [first, second] = [await during(one), await during(other)]
      return { results: [first.result, second.result], statements: [first.statements, second.statements] }
    },
    stop: () => void Object.assign(prototype, { query }),
  }
}
