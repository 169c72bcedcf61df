/**
 * Notes when a participant's system was first seen to do each step of the checklist on the partner page. Messages are
 * deleted after a time; a noted step stays, until the participant is promoted or removed.
 */
import type { Participant } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'
import { oncePerPool } from '@rollcall/database/group-commit'

/** When the participant's system was first seen to do each step of the checklist; null: not yet. */
export interface ChecklistStepTimes {
  /** A request was received, so the participant had an access token. */
  readonly token: Date | null
  /** The participant has sent a search. */
  readonly search: Date | null
  /** A signature of one of the participant's messages was verified. */
  readonly signature: Date | null
  /** The participant acknowledged a callback or a notification. */
  readonly callback: Date | null
}

/** The least milliseconds until `noteChecklistSteps` calls `look` again for a participant: `look` reads hundreds of messages. */
const CHECKLIST_READ_INTERVAL_MS = 60_000
/** The most participants in `lastChecklistReadTimes`. When there are as many, all are removed. */
const MOST_REMEMBERED_PARTICIPANTS = 10_000

/** The time, in milliseconds, of the last call of the `look` of `noteChecklistSteps`, by `Participant.id`. */
const lastChecklistReadTimes = oncePerPool(() => new Map<number, number>())

/**
 * Returns the noted steps. When some are missing, calls `look`, as a rule at most once a minute for a participant in each
 * process, and stores the steps that `look` finds.
 * @param look finds the time at which each step of a participant was first seen
 * @param now milliseconds
 */
export async function noteChecklistSteps(
  { pool }: Pick<Database, 'pool'>,
  { id }: Pick<Participant, 'id'>,
  { look, now }: { readonly look: (participant: number) => Promise<ChecklistStepTimes>; readonly now: number },
): Promise<ChecklistStepTimes> {
  const noted = await readNotedChecklistStepTimes({ pool }, id)
  if (Object.values(noted).every((at) => at !== null)) return noted
  const looks = lastChecklistReadTimes(pool)
  if (now - (looks.get(id) ?? Number.NEGATIVE_INFINITY) < CHECKLIST_READ_INTERVAL_MS) return noted
  if (looks.size >= MOST_REMEMBERED_PARTICIPANTS) looks.clear()
  looks.set(id, now)
  const seen = Object.entries(await look(id)).filter(([, at]) => at !== null)
  if (seen.length > 0) {
    await pool.query(
      `insert into participant_milestone (participant, step, at)
        select $1, step, at from unnest($2::text[], $3::timestamptz[]) as seen (step, at)
        on conflict do nothing`,
      [id, seen.map(([step]) => step), seen.map(([, at]) => at)],
    )
  }
  return readNotedChecklistStepTimes({ pool }, id)
}

async function readNotedChecklistStepTimes({ pool }: Pick<Database, 'pool'>, id: number): Promise<ChecklistStepTimes> {
  const { rows } = await pool.query<{ step: keyof ChecklistStepTimes; at: Date }>(
    'select step, at from participant_milestone where participant = $1',
    [id],
  )
  const noted = Object.fromEntries(rows.map(({ step, at }) => [step, at]))
  return { token: null, search: null, signature: null, callback: null, ...noted }
}
