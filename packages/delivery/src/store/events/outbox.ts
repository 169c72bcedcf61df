/** The event outbox: a table in a schema of its own, in which existing systems INSERT events (docs/events.md). */

import type { OutboxHealth } from '@rollcall/core/model/health'
import { withAllIdentifierTypes } from '@rollcall/core/model/person-identifiers'
import type { Identifier } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { secondsUntilDue } from '@rollcall/database/queue'
import { type JsonValue, readIdentifiers } from '@rollcall/protocol'
import { REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'
import type { ClientBase, Pool } from 'pg'

/** A row of the event outbox: an event that is to be published. */
export interface OutboxRow {
  readonly id: string
  readonly namespace: string
  readonly reg_event_type: string
  /** The JSON text of the record; null when it has more bytes than the limit of `readOutboxRow`. */
  readonly record: string | null
  /** The JSON text of the elements to remove from the record; null when there is none, or it has more bytes than the limit. */
  readonly remove: string | null
  readonly has_remove: boolean
  readonly record_type: string | null
  readonly event_id: string | null
  /** The time of the event. A number is ±Infinity (PostgreSQL's `infinity`); publishing refuses it. */
  readonly occurred_at: Date | number | null
  readonly source_version: string | null
  readonly replace: boolean
  readonly corrects: string | null
}

/** SQL for `secondsUntilDue`: a row with 0 when a row of the event outbox waits. */
export const OUTBOX_DUE_SQL = 'select 0 where exists (select from rollcall_outbox.event where failed_at is null)'

/** True when a row of the event outbox waits to be published. */
export async function isOutboxWaiting(pool: Pick<Pool, 'query'>): Promise<boolean> {
  return (await secondsUntilDue(pool, { outbox: OUTBOX_DUE_SQL })).outbox !== null
}

/**
 * Takes the first waiting row and locks it until the transaction ends; null: none waits, or another node publishes.
 * Only one node publishes at a time, so that events have the order of the rows.
 * @returns the id of the row
 */
export async function takeOutboxRow(client: ClientBase): Promise<string | null> {
  const lock = await client.query<{ taken: boolean }>("select pg_try_advisory_xact_lock(hashtext('rollcall outbox'), 0) as taken")
  if (lock.rows[0]?.taken !== true) return null
  const { rows } = await client.query<{ id: string }>({
    name: 'take outbox row',
    text: 'select id::text from rollcall_outbox.event where failed_at is null order by id limit 1 for update skip locked',
  })
  return rows[0]?.id ?? null
}

/**
 * Reads a row that was taken.
 * @param longest the most bytes of `record` and of `remove`
 * @throws DatabaseError of class 54: PostgreSQL cannot write `record` or `remove` as text, because the text would be too long
 */
export async function readOutboxRow(client: ClientBase, id: string, longest: number): Promise<OutboxRow> {
  const { rows } = await client.query<OutboxRow>({
    name: 'read outbox row',
    text: `select id::text, namespace, reg_event_type,
        case when octet_length(record::text) <= $2 then record::text end as record,
        case when octet_length(remove::text) <= $2 then remove::text end as remove, remove is not null as has_remove,
        record_type, event_id, occurred_at, source_version::text, replace, corrects
      from rollcall_outbox.event where id = $1`,
    values: [id, longest],
  })
  const [row] = rows
  if (row === undefined) throw new Error('a row of the outbox is gone, although it is locked')
  return row
}

/** Removes a row from the event outbox after its event was published. */
export async function removeOutboxRow(client: ClientBase, id: string): Promise<void> {
  await client.query('delete from rollcall_outbox.event where id = $1', [id])
}

/** Marks a row of the event outbox as failed. The row stays, and later rows are published. */
export async function failOutboxRow(client: ClientBase, id: string, failure: string): Promise<void> {
  await client.query('update rollcall_outbox.event set failure = $2, failed_at = now() where id = $1', [id, failure])
}

/** Counts in the row that publishing it took longer than a statement may take. @returns the new count */
export async function noteOutboxTimeout(client: ClientBase, id: string): Promise<number> {
  const { rows } = await client.query<{ timeouts: number }>(
    'update rollcall_outbox.event set timeouts = timeouts + 1 where id = $1 returning timeouts',
    [id],
  )
  return rows[0]?.timeouts ?? 0
}

/** A row of the event outbox that could not be published, without its contents. */
export interface FailedOutboxRow {
  readonly id: string
  readonly namespace: string
  readonly reg_event_type: string
  readonly event_id: string | null
  readonly failure: string
  readonly created_at: Date
  readonly failed_at: Date
}

/** Counts the waiting and the failed rows of the event outbox, and finds how long the oldest has waited, in seconds. */
export async function outboxHealth({ pool }: Pick<Database, 'pool'>): Promise<OutboxHealth> {
  const { rows } = await pool.query<OutboxHealth>({
    name: 'outbox health',
    text: `select count(*) filter (where failed_at is null) as waiting,
        count(*) filter (where failed_at is not null) as failed,
        coalesce(extract(epoch from now() - min(created_at) filter (where failed_at is null)), 0)::float8 as oldest
      from rollcall_outbox.event`,
  })
  return rows[0] ?? { waiting: 0, failed: 0, oldest: 0 }
}

/** Lists the failed rows of the event outbox, the newest first. */
export async function listFailedRows({ pool }: Pick<Database, 'pool'>, limit: number): Promise<readonly FailedOutboxRow[]> {
  const { rows } = await pool.query<FailedOutboxRow>(
    `select id::text, namespace, reg_event_type, event_id, failure, created_at, failed_at
      from rollcall_outbox.event where failed_at is not null order by failed_at desc, id desc limit $1`,
    [limit],
  )
  return rows
}

/** Lets failed rows of the event outbox wait again. @param ids null: all @returns how many */
export async function retryOutbox({ pool }: Pick<Database, 'pool'>, ids: readonly string[] | null): Promise<number> {
  const { rowCount } = await pool.query(
    `update rollcall_outbox.event set failure = null, failed_at = null, timeouts = 0
      where failed_at is not null and ($1::text[] is null or id::text = any($1))`,
    [ids],
  )
  return rowCount ?? 0
}

/** The most rows that are read at a time, and the most bytes of several rows: the records of failed rows may be large. */
const ROWS_READ_AT_A_TIME = 20
const BYTES_READ_AT_A_TIME = 8_388_608

/**
 * Finds the waiting and failed rows of the event outbox in which the record, or a person whom the record names, has one of these
 * identifiers. Looks into the rows of the given registries, and of namespaces that no registry has.
 * @returns the ids of the rows
 */
export async function findOutboxRowsAbout(
  { pool }: Pick<Database, 'pool'>,
  identifiers: readonly Identifier[],
  registries: readonly Registry[],
): Promise<readonly string[]> {
  const wanted = new Set(identifiers.map(({ type, value }) => `${type}:${value}`))
  const hasPerson = (document: JsonValue): boolean =>
    registries.some(({ kind }) =>
      kind.record_types.some((recordType) =>
        readIdentifiers(withAllIdentifierTypes(kind), recordType, document).some(({ type, value }) =>
          wanted.has(`${type}:${value}`),
        ),
      ),
    )
  const found: string[] = []
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const { rows }: { rows: { id: string; record: JsonValue; remove: JsonValue }[] } = await pool.query(
      `select id::text, record, remove from (
          select id, record, remove, row_number() over ids as place,
            sum(octet_length(record::text) + coalesce(octet_length(remove::text), 0)) over ids as bytes
          from (select * from rollcall_outbox.event as event
            where id > $1::bigint and (namespace = any($2::text[]) or not exists
              (select from ${REGISTRIES_SQL} as registry where registry.namespace = event.namespace)) order by id limit $3) as found
          window ids as (order by id)) as measured
        where place = 1 or bytes <= $4 order by measured.id`,
      [after, registries.map(({ namespace }) => namespace), ROWS_READ_AT_A_TIME, BYTES_READ_AT_A_TIME],
    )
    for (const { id, record, remove } of rows) if (hasPerson(record) || hasPerson(remove)) found.push(id)
    after = rows.at(-1)?.id
  }
  return found
}

/** Deletes rows of the event outbox. Waits for a row that is being published, and does not count it. @returns how many */
export async function deleteOutboxRows({ pool }: Pick<Database, 'pool'>, ids: readonly string[]): Promise<number> {
  const { rowCount } = await pool.query('delete from rollcall_outbox.event where id = any($1::bigint[])', [ids])
  return rowCount ?? 0
}
