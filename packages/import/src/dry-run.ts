/** The memory of a dry run, in a temporary table of its session: the first line of each primary identifier. */
import type { RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'

export async function openDryRun(client: ClientBase): Promise<void> {
  await client.query('set statement_timeout = 0')
  await client.query(
    `create temporary table dry_run_line (
       record_type text collate "C", primary_identifier text collate "C", line bigint not null,
       primary key (record_type, primary_identifier))`,
  )
}

/**
 * @param lines by primary identifier
 * @returns those that occurred in an earlier line, with the first such line
 */
export async function noteLines(
  client: ClientBase,
  { name }: RecordType,
  lines: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  // The outer query does not see the rows that the inner one inserts.
  const { rows } = await client.query<{ primary_identifier: string; line: string }>(
    `with given as (select * from unnest($2::text[], $3::bigint[]) as given (primary_identifier, line)),
     noted as (
       insert into dry_run_line select $1, primary_identifier, line from given on conflict do nothing
     )
     select primary_identifier, line from dry_run_line
     where record_type = $1 and primary_identifier = any($2::text[])`,
    [name, [...lines.keys()], [...lines.values()]],
  )
  return new Map(rows.map(({ primary_identifier, line }) => [primary_identifier, Number(line)]))
}
