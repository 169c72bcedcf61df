/** What is different in a database that was restored: what was given out after the snapshot is not given out again. */
import type { PoolClient } from 'pg'
import { type CatalogSequence, tableSql } from './catalog.ts'

type Client = Pick<PoolClient, 'query'>

/**
 * Numbers that are passed over. Receivers remember versions of records, numbers of envelopes and ids of items that they got
 * between the snapshot and the end of the database before: a smaller one would be ignored, and an equal one taken for a copy.
 */
const PASSED_OVER: Readonly<Record<string, bigint>> = {
  bigint: 1_000_000_000n,
  integer: 10_000n,
  smallint: 100n,
}

/** @param last numbers that the backup has, by sequence; sequences that it does not have stay as they are */
export async function advanceSequences(client: Client, last: readonly CatalogSequence[]): Promise<void> {
  for (const sequence of last) {
    const passed = PASSED_OVER[sequence.type]
    if (passed === undefined) continue
    const value = BigInt(sequence.last ?? 0) + passed
    await client.query('select setval($1::regclass, $2::bigint)', [tableSql(sequence), value.toString()])
  }
}

/** The next envelope of each mailbox has a number that none had before; its receiver finds the others missing. */
export async function advanceMailboxes(client: Client): Promise<void> {
  await client.query('update mailbox set sequence = sequence + $1', [PASSED_OVER.bigint?.toString()])
}
