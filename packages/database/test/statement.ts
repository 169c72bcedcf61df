/** A statement by a role that a test names. */
import pg from 'pg'

/** Runs one statement over a connection of its own and gives its rows. */
export async function query(
  connection: pg.ClientConfig,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(connection)
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}
