/** The statements that this process sends to PostgreSQL. */
import pg from 'pg'

/** Notes the texts of statements of all connections while the work runs. */
export async function statementsDuring(work: () => Promise<unknown>): Promise<readonly string[]> {
  const { query } = pg.Client.prototype
  const made: string[] = []
  Reflect.set(pg.Client.prototype, 'query', function (this: pg.Client, ...given: unknown[]) {
    const [statement] = given
    made.push(typeof statement === 'string' ? statement : (statement as { text: string }).text)
    return Reflect.apply(query, this, given)
  })
  try {
    await work()
  } finally {
    pg.Client.prototype.query = query
  }
  return made
}
