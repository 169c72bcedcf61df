/** Counts answers, acknowledgements, callbacks and refusals of a period by outcome and duration, from audit entries. */
import type { Database } from '@rollcall/database/database'
import { ENTRIES_WITH_CONTENT_SQL, entriesSql } from './entry-shape.ts'
import { type MessageOutcome, OUTCOME_SQL } from './message-entries.ts'
import type { PeriodToRead } from './read-entries.ts'

/** A count of messages with the same facts. */
export interface TrafficRow {
  /** The namespace of the registry; null when the request was refused before it named one. */
  readonly registry: string | null
  readonly operation: string | null
  readonly mode: 'synchronous' | 'asynchronous'
  readonly outcome: MessageOutcome
  /** The step on the scale of durations (`durationStepEndMs`); null: the duration is not known. */
  readonly step: number | null
  readonly messages: number
}

/** Each step of the scale of durations ends at `DURATION_SCALE_FACTOR` times the end of the step before. */
const DURATION_SCALE_FACTOR = 1.1

/** The longest duration in a step, in milliseconds. */
export const durationStepEndMs = (step: number): number => DURATION_SCALE_FACTOR ** step

/**
 * Counts messages except notifications. The duration of an answer or callback goes from the receipt of the request to the audit
 * entry, which is committed before the message is sent. Only the first answer to a repeated request of a participant has a
 * duration.
 * @param exchanges SQL for a `from` clause: correlation_id and received_at of each exchange that is stored
 */
export async function countTrafficBetween(
  { pool }: Pick<Database, 'pool'>,
  { from, to }: PeriodToRead,
  exchanges: string,
): Promise<readonly TrafficRow[]> {
  const { rows } = await pool.query<TrafficRow>({
    name: 'traffic',
    text: `with answered as materialized (
        select chain, sequence, at, message_id, content::jsonb as members, ${OUTCOME_SQL} as outcome,
          coalesce(correlation_id::text, content::jsonb ->> 'correlation_id') as correlation_id
        from ${ENTRIES_WITH_CONTENT_SQL}
        where at >= $1 and at < $2 and strpos(content, '"kind":"operator"') = 0
          and strpos(content, '"kind":"notification"') = 0 and strpos(content, '"kind":"unsent"') = 0
      ),
      timed as (
        select members, outcome, case when received_at is not null and not exists (
            select from ${entriesSql('earlier')} where earlier.message_id = answered.message_id
              and earlier.content::jsonb ->> 'participant' is not distinct from members ->> 'participant'
              and (earlier.at, earlier.chain, earlier.sequence) < (answered.at, answered.chain, answered.sequence)
              and strpos(earlier.content, '"kind":"answer"') > 0
          ) then ceil(ln(greatest(extract(epoch from answered.at - received_at) * 1000, 1)::float8) / ln(${DURATION_SCALE_FACTOR}::float8))
          end as step
        from answered left join ${exchanges} as exchange on members ->> 'kind' in ('answer', 'callback')
          and exchange.correlation_id = answered.correlation_id::uuid
      )
      select members ->> 'registry' as registry, members ->> 'operation' as operation,
        case when members ->> 'kind' in ('acknowledgement', 'callback') then 'asynchronous' else 'synchronous' end as mode,
        outcome, step::integer as step, sum(coalesce((members ->> 'count')::bigint, 1))::float8 as messages
      from timed group by 1, 2, 3, 4, 5`,
    values: [from, to],
  })
  return rows
}
