/** Attempts that delivered, written down together: under load a statement carries all that ended during the last one. */
import type pg from 'pg'
import type { Attempt, Destination } from '../../model/delivery.ts'
import { groupCommit } from '../db/group-commit.ts'
import { perPool } from '../db/per-pool.ts'

/** An attempt that delivered, its destination, and its delivery's claim and called address. */
export interface Delivered extends Attempt, Destination {
  readonly claim: string
  /** Null: the one it has. */
  readonly target: string | null
}

/** As `recordAttempt` does. */
export const recordDelivered = (pool: pg.Pool, delivered: Delivered): Promise<boolean> =>
  waiting(pool).submit(delivered)

/** There are never more than attempts under way. */
const waiting = perPool((pool) =>
  groupCommit<Delivered, boolean>((entries) => write(pool, entries), { waiting: Infinity }),
)

async function write(pool: pg.Pool, entries: readonly Delivered[]): Promise<readonly boolean[]> {
  const { rows } = await pool.query<{ claim: string; id: string }>({
    name: 'record delivered',
    text: RECORD_DELIVERED,
    values: COLUMNS.map((column) => entries.map((entry) => entry[column])),
  })
  const counted = new Set(rows.map(({ id, claim }) => `${id} ${claim}`))
  return entries.map(({ delivery, claim }) => counted.has(`${delivery} ${claim}`))
}

const COLUMNS = [
  ...['delivery', 'number', 'at', 'duration_ms', 'status', 'error', 'answer'],
  ...['participant', 'claim', 'target', 'origin'],
] as (keyof Delivered)[]

const RECORD_DELIVERED = `with said as (
    select * from unnest($1::uuid[], $2::integer[], $3::timestamptz[], $4::integer[], $5::integer[], $6::text[],
      $7::bytea[], $8::integer[], $9::uuid[], $10::text[], $11::text[])
      as said (delivery, number, at, duration_ms, status, error, answer, participant, claim, target, origin)
  ),
  ended as (
    update delivery set state = 'delivered', next_attempt_at = null, reason = null, claim = null,
      claimed_until = null, target = coalesce(said.target, delivery.target), finished_at = now()
    from said where delivery.id = said.delivery and delivery.claim = said.claim and delivery.state = 'pending'
    returning delivery.id, said.claim
  ),
  noted as (
    insert into delivery_attempt as known (delivery, number, at, duration_ms, status, error, answer)
    select said.delivery, said.number, said.at, said.duration_ms, said.status, said.error, said.answer
    from said join delivery on delivery.id = said.delivery
    on conflict (delivery, number) do update
      set (at, duration_ms, status, error, answer) =
        (excluded.at, excluded.duration_ms, excluded.status, excluded.error, excluded.answer)
      where known.error = 'interrupted'
  ),
  up as (
    delete from breaker using said
    where breaker.participant = said.participant and breaker.origin = said.origin collate "C"
  )
  select id, claim from ended`
