/** The statements that this process sends to PostgreSQL, for tests which show that two questions cause the same ones. */
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

/** A look-up of an identifier, alone or several in one statement: how many share one depends on what else runs at the time. */
const LOOK_UP = /select identifier\.record as id from (\S+) as identifier where identifier\.type = (\$1|asked\."type") /

/** The texts under which a statement is noted: a statement that look-ups share has one for each of them. */
function notedTexts(given: Sent, text: string): readonly string[] {
  const [, table, type] = LOOK_UP.exec(text.replaceAll(/\s+/g, ' ')) ?? []
  if (table === undefined) return [text]
  const [first] = typeof given === 'string' ? [] : (given.values ?? [])
  const count = type !== '$1' && Array.isArray(first) ? first.length : 1
  return Array(count).fill(`look-up in ${table}`)
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
      if (!SETTING_UP.test(text) && !unless.test(text)) sent.push(...notedTexts(given, text))
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
