/** Stores the reports of checks of a participant's system in a registry. */
import type { CheckedSystem, CheckStep } from '@rollcall/core/model/check'
import type { Participant } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'
import { REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'

/** The report of one check of a participant's system in a registry. */
export interface ParticipantCheck {
  readonly namespace: string
  readonly since: Date
  readonly checked_at: Date
  /** The version of Rollcall that made the report. */
  readonly version: string
  readonly passed: boolean
  readonly steps: readonly CheckStep[]
}

/**
 * Stores the report of a check. It replaces the earlier report of the same participant, registry and `since`: the time from which
 * on messages are checked.
 */
export async function saveCheck(
  { pool }: Pick<Database, 'pool'>,
  { participant, registry, since }: CheckedSystem,
  { checked_at, version, passed, steps }: Omit<ParticipantCheck, 'namespace' | 'since'>,
): Promise<void> {
  await pool.query(
    `insert into participant_check (participant, registry, since, checked_at, version, passed, steps)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (participant, registry, since) do update set
        checked_at = excluded.checked_at, version = excluded.version, passed = excluded.passed, steps = excluded.steps`,
    [participant.id, registry.id, since, checked_at, version, passed, JSON.stringify(steps)],
  )
}

/** Lists the reports of a participant, the newest first, at most `limit`. */
export async function listChecks(
  { pool }: Pick<Database, 'pool'>,
  { id }: Pick<Participant, 'id'>,
  limit: number,
): Promise<readonly ParticipantCheck[]> {
  const { rows } = await pool.query<ParticipantCheck>(
    `select namespace, since, checked_at, version, passed, steps
      from participant_check join ${REGISTRIES_SQL} as registry on registry.id = participant_check.registry
      where participant = $1 order by checked_at desc, participant_check.id desc limit $2`,
    [id, limit],
  )
  return rows
}
