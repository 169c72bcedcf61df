/** Stores proposals: acts that wait for a second operator. The inputs of the acts are stored encrypted. */

import type { Database } from '@rollcall/database/database'
import { valuesSql } from '@rollcall/database/statement-parts'
import { sql } from 'kysely'

/** The table with the encrypted inputs of acts, its primary key, and the purpose of the encryption. */
export const SEALED_PROPOSAL_TABLE = { table: 'proposal', id: 'id', purpose: 'proposal' } as const

/**
 * `waiting`: nobody has decided. `declined`: an operator decided against the act. `approved`: the act is being done, or the
 * process ended before it noted `done` or `failed`. `outdated`: the stored data had changed when an operator wanted to approve
 * the act. `lapsed`: the proposal ended without a decision.
 */
export const PROPOSAL_STATES = [
  ...(['waiting', 'approved', 'done', 'failed', 'declined', 'outdated', 'lapsed'] as const),
] as const
export type ProposalState = (typeof PROPOSAL_STATES)[number]

/** The operator who proposes or decides. Two actors are the same operator when the id or the name is the same. */
export interface ProposalActor {
  readonly id: string
  readonly name: string
}

/** An act that was proposed for approval by a second operator, without its input. */
export interface StoredProposal {
  readonly id: string
  readonly act: string
  /** The lines that show the approver what would change, as JSON. */
  readonly diff: string
  readonly state: ProposalState
  readonly proposed_by: string
  readonly proposed_name: string
  readonly proposed_at: Date
  readonly lapses_at: Date
  readonly decided_name: string | null
  readonly decided_at: Date | null
  readonly failure: string | null
}

type DatabaseWithKysely = Pick<Database, 'kysely'>

/** Stores a proposal that waits for a second operator. */
export async function addProposal(
  { kysely }: DatabaseWithKysely,
  proposal: Pick<StoredProposal, 'id' | 'act' | 'diff' | 'proposed_at' | 'lapses_at'> & {
    readonly sealed: Buffer
    readonly by: ProposalActor
  },
): Promise<void> {
  const { by, ...row } = proposal
  const inserted = valuesSql({ ...row, proposed_by: by.id, proposed_name: by.name })
  await sql`insert into proposal ${inserted}`.execute(kysely)
}

/** SQL of proposals as operators see them: a waiting proposal whose time is over is shown as lapsed. */
const proposalsWithPresentStateSql = (
  now: Date,
) => sql`select id, act, diff, proposed_by, proposed_name, proposed_at, lapses_at, decided_name,
  decided_at, failure, sealed, case when state = 'waiting' and lapses_at <= ${now} then 'lapsed' else state end as state
  from proposal`

/** Lists proposals in a state (null: in any), the newest first, at most `limit`. */
export async function listProposals(
  { kysely }: DatabaseWithKysely,
  { state, limit, now }: { readonly state: ProposalState | null; readonly limit: number; readonly now: Date },
): Promise<readonly StoredProposal[]> {
  const { rows } = await sql<StoredProposal & { readonly sealed: Buffer | null }>`
    select * from (${proposalsWithPresentStateSql(now)}) as shown where ${state}::text is null or state = ${state}
    order by proposed_at desc, id desc limit ${limit}`.execute(kysely)
  return rows.map(({ sealed: _, ...shown }) => shown)
}

export async function countWaitingProposals({ pool }: Pick<Database, 'pool'>, now: Date): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*) from proposal where state = 'waiting' and lapses_at > $1`,
    [now],
  )
  return rows[0]?.count ?? 0
}

/** Finds a proposal by its id; null when there is none. */
export async function findProposal(
  { kysely }: DatabaseWithKysely,
  id: string,
  now: Date,
): Promise<(StoredProposal & { readonly sealed: Buffer | null }) | null> {
  const { rows } = await sql<StoredProposal & { readonly sealed: Buffer | null }>`
    ${proposalsWithPresentStateSql(now)} where id = ${id}`.execute(kysely)
  return rows[0] ?? null
}

/**
 * Approves or declines a waiting proposal, or marks it as outdated. Erases the stored input, which the caller needs to have
 * read before it approves. Of several decisions only the first succeeds, and a proposer cannot decide.
 * @returns false when the proposal no longer waits, or its proposer tries to decide it
 */
export async function decideProposal(
  { kysely }: DatabaseWithKysely,
  id: string,
  decision: { readonly state: 'approved' | 'declined' | 'outdated'; readonly by: ProposalActor; readonly now: Date },
): Promise<boolean> {
  const { state, by, now } = decision
  const { numAffectedRows } = await sql`update proposal
    set state = ${state}, sealed = null, decided_by = ${by.id}, decided_name = ${by.name}, decided_at = ${now}
    where id = ${id} and state = 'waiting' and lapses_at > ${now} and proposed_by <> ${by.id}
      and proposed_name <> ${by.name}`.execute(kysely)
  return numAffectedRows !== 0n
}

/** Notes how the act of an approved proposal ended. @param failure the reason why it failed; null: it was done */
export async function noteProposalEnd({ kysely }: DatabaseWithKysely, id: string, failure: string | null): Promise<void> {
  await sql`update proposal set state = ${failure === null ? 'done' : 'failed'}, failure = ${failure}
    where id = ${id} and state = 'approved'`.execute(kysely)
}

/** Lets all waiting proposals lapse: after a restore nobody knows what was decided since the backup. */
export async function lapseAllWaitingProposals(kysely: DatabaseWithKysely['kysely']): Promise<void> {
  await sql`update proposal set state = 'lapsed', sealed = null where state = 'waiting'`.execute(kysely)
}

/** Lets the waiting proposals of an operator lapse. @returns the number of proposals */
export async function lapseProposalsOf({ kysely }: DatabaseWithKysely, name: string): Promise<number> {
  const { numAffectedRows } = await sql`update proposal set state = 'lapsed', sealed = null
    where state = 'waiting' and proposed_name = ${name}`.execute(kysely)
  return Number(numAffectedRows)
}

/**
 * Lets waiting proposals lapse when `lapses_at` has passed, and erases their inputs. Deletes every proposal, also a decided
 * one, this many days after its `lapses_at`.
 */
export async function lapseAndDeleteProposals({ kysely }: DatabaseWithKysely, days: number, now: Date): Promise<void> {
  await sql`update proposal set state = 'lapsed', sealed = null
    where state = 'waiting' and lapses_at <= ${now}`.execute(kysely)
  await sql`delete from proposal
    where lapses_at < ${now}::timestamptz - make_interval(days => ${days})`.execute(kysely)
}
