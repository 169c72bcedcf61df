/**
 * Temporary tables of a dry run, or of the import of a complete file. They have each primary identifier that a line names, with
 * the number of such a line, and at the end the records that no line names.
 */

import type { RecordType } from '@rollcall/protocol'
import { type RecordsComparedWithFile, recordsNotInFileStatement } from '@rollcall/records/records/complete-records'
import type { ClientBase } from 'pg'

/** Makes the temporary table for noted lines. The statements of this connection then have no time limit. */
export async function createNotedLineTable(client: ClientBase): Promise<void> {
  await client.query('set statement_timeout = 0')
  // `line` is the number of an accepted line with the primary identifier. Null: each such line was rejected, or was about a
  // retired record. A dry run does not recognise retired records, so it accepts lines about them.
  await client.query(
    `create temporary table noted_line (
       record_type text collate "C", primary_identifier text collate "C", line bigint,
       primary key (record_type, primary_identifier))`,
  )
}

/**
 * Stores line numbers in the temporary table.
 * @param lines the line number for each primary identifier; null: its line was rejected, or was about a retired record
 * @returns for each primary identifier, the line number that an earlier call stored; a primary identifier for which no earlier
 * call stored a number is left out
 */
export async function noteLines(
  client: ClientBase,
  { name }: RecordType,
  lines: ReadonlyMap<string, number | null>,
): Promise<ReadonlyMap<string, number>> {
  // The last `select` does not see the rows that the subquery `noted` writes, so it returns only lines of earlier calls.
  const { rows } = await client.query<NotedLine>(
    `with given as (select * from unnest($2::text[], $3::bigint[]) as given (primary_identifier, line)),
     noted as (
       insert into noted_line select $1, primary_identifier, line from given
       on conflict (record_type, primary_identifier) do update set line = excluded.line where noted_line.line is null
     )
     ${FIND_NOTED_LINES}`,
    [name, [...lines.keys()], [...lines.values()]],
  )
  return lineByPrimaryIdentifier(rows)
}

/** Returns the noted line number of each of these primary identifiers that has one. */
export async function findNotedLines(
  client: ClientBase,
  { name }: RecordType,
  primaries: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  return lineByPrimaryIdentifier((await client.query<NotedLine>(FIND_NOTED_LINES, [name, primaries])).rows)
}

interface NotedLine {
  readonly primary_identifier: string
  readonly line: string
}

const FIND_NOTED_LINES = `select primary_identifier, line from noted_line
  where record_type = $1 and primary_identifier = any($2::text[]) and line is not null`

const lineByPrimaryIdentifier = (rows: readonly NotedLine[]): ReadonlyMap<string, number> =>
  new Map(rows.map(({ primary_identifier, line }) => [primary_identifier, Number(line)]))

/** Writes the records that no line names into a temporary table, for `readRecordsNotInFile`. @returns their number */
export async function listRecordsNotInFile(client: ClientBase, compared: readonly RecordsComparedWithFile[]): Promise<number> {
  await client.query('analyze noted_line')
  await client.query(
    `create temporary table absent_record (
       position bigint generated always as identity primary key, record_type text, primary_identifier text)`,
  )
  let count = 0
  for (const one of compared) {
    const named = 'select primary_identifier from noted_line where record_type = $2::text'
    const { text, values } = recordsNotInFileStatement(one, named)
    const { rowCount } = await client.query(`insert into absent_record (record_type, primary_identifier) ${text}`, [...values])
    count += rowCount ?? 0
  }
  return count
}

export interface RecordNotInFile {
  readonly record_type: string
  readonly primary_identifier: string
}

/** Yields the listed records in batches. The records of a batch have one type. */
export async function* readRecordsNotInFile(client: ClientBase, limit: number): AsyncGenerator<readonly RecordNotInFile[]> {
  let after = '0'
  for (;;) {
    const { rows } = await client.query<RecordNotInFile & { readonly position: string }>(
      `select position, record_type, primary_identifier from absent_record
       where position > $1::bigint order by position limit $2`,
      [after, limit],
    )
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.position
    const listed = rows.map(({ record_type, primary_identifier }) => ({ record_type, primary_identifier }))
    for (const batch of Map.groupBy(listed, ({ record_type }) => record_type).values()) yield batch
  }
}
