/** Grants of participants in registries. A changed grant is a new row: the one before it stays, as a record of what counted. */
import { sql, type Transaction } from 'kysely'
import type { Environment } from '../../model/environment.ts'
import type { GrantTerms } from '../../model/grant.ts'
import type { Participant } from '../../model/participant.ts'
import type { Registry } from '../../model/registry.ts'
import type { Database } from '../db/database.ts'
import { groupCommit, perPool } from '../db/group-commit.ts'
import { StoreRefusal } from '../db/refusal.ts'
import type { Tables } from '../db/tables.ts'
import { isStorable } from '../db/text.ts'
import { lockParticipant } from './participants.ts'

/** A grant as it is stored. */
export interface StoredGrant {
  readonly id: number
  readonly participant: number
  readonly registry: number
  readonly terms: GrantTerms
  readonly valid_from: Date
  /** Null: no end. */
  readonly valid_until: Date | null
}

const COLUMNS = ['id', 'participant', 'registry', 'terms', 'valid_from', 'valid_until'] as const

interface Owner {
  readonly participant: Pick<Participant, 'id'>
  readonly registry: Pick<Registry, 'id'>
}

/**
 * Grants the terms, from `valid_from` on.
 * @param replace revokes every other grant of the participant in the registry; otherwise one whose time overlaps refuses
 * @throws StoreRefusal
 */
export async function addGrant(
  db: Pick<Database, 'kysely'>,
  owner: Owner,
  terms: GrantTerms,
  { replace }: { readonly replace: boolean },
): Promise<StoredGrant> {
  const [added] = await changeGrants(db, owner, { revoke: replace ? 'all' : [], add: [terms] })
  if (added === undefined) throw new Error('unreachable: a grant was added')
  return added
}

/** Whether something is granted to a participant in one of the registries, or was. */
export async function isKnownIn(
  { pool }: Pick<Database, 'pool'>,
  sender_id: string,
  registries: readonly number[],
): Promise<boolean> {
  if (!isStorable(sender_id)) return false
  const { rowCount } = await pool.query(
    `select from participant_grant join participant on participant.id = participant
      where sender_id = $1 and registry = any($2) limit 1`,
    [sender_id, registries],
  )
  return rowCount === 1
}

export interface GrantChanges {
  /** `id`s of grants, or all that the participant has in the registry. */
  readonly revoke: readonly number[] | 'all'
  readonly add: readonly GrantTerms[]
}

/**
 * Revokes and adds grants of a participant in a registry, all at the same moment.
 * @returns those that were added
 * @throws StoreRefusal two would count at the same time, or one ends before it begins
 */
export async function changeGrants(
  { kysely }: Pick<Database, 'kysely'>,
  { participant, registry }: Owner,
  { revoke, add }: GrantChanges,
): Promise<readonly StoredGrant[]> {
  return kysely.transaction().execute(async (transaction) => {
    const locked = await lockParticipant(transaction, participant)
    const owner = { participant: locked, registry }
    if (add.length > 0) await checkEnvironment(transaction, locked, registry)
    if (revoke === 'all' || revoke.length > 0) {
      await transaction
        .updateTable('participant_grant')
        .set({ revoked_at: sql<Date>`now()` })
        .where('participant', '=', owner.participant.id)
        .where('registry', '=', registry.id)
        .where('revoked_at', 'is', null)
        .$if(revoke !== 'all', (rows) => rows.where('id', 'in', [...revoke].map(Number)))
        .execute()
    }
    const added: StoredGrant[] = []
    for (const terms of add) added.push(await insertGrant(transaction, owner, terms))
    return added
  })
}

/**
 * A sandbox participant is granted nothing in a live registry, and a live one nothing in a sandbox.
 * @throws StoreRefusal
 */
async function checkEnvironment(
  transaction: Transaction<Tables>,
  { environment }: Pick<Participant, 'environment'>,
  { id }: Pick<Registry, 'id'>,
): Promise<void> {
  const registry = await transaction
    .selectFrom('registry')
    .select(['namespace', 'environment'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const problem = environmentProblem(environment, registry)
  if (problem !== null) throw new StoreRefusal(problem)
}

/** Null: a participant of this environment may be granted something in the registry. */
export function environmentProblem(
  participant: Environment,
  { namespace, environment }: Pick<Registry, 'namespace' | 'environment'>,
): string | null {
  if (participant === environment) return null
  return `the registry ${namespace} is ${environment} and the participant is ${participant}; ${WHAT_TO_DO[participant]}`
}

const WHAT_TO_DO: Readonly<Record<Environment, string>> = {
  sandbox: 'rollcall participant promote makes a participant live',
  live: 'add a sandbox participant for it with rollcall participant add --sandbox',
}

async function insertGrant(
  transaction: Transaction<Tables>,
  { participant, registry }: Owner,
  terms: GrantTerms,
): Promise<StoredGrant> {
  const { valid_from, valid_until } = timesOf(terms)
  const overlapping = await transaction
    .selectFrom('participant_grant')
    .select('id')
    .where('participant', '=', participant.id)
    .where('registry', '=', registry.id)
    .where('revoked_at', 'is', null)
    .where(sql<boolean>`tstzrange(valid_from, valid_until) && tstzrange(${valid_from}, ${valid_until})`)
    .executeTakeFirst()
  if (overlapping !== undefined) {
    throw new StoreRefusal(
      `valid_from: overlaps grant ${overlapping.id}; at any time a participant has one grant in a registry`,
    )
  }
  return transaction
    .insertInto('participant_grant')
    .values({
      participant: participant.id,
      registry: registry.id,
      terms: JSON.stringify(terms),
      valid_from,
      valid_until,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/**
 * When the terms count, if they are granted now.
 * @throws StoreRefusal they would end before they begin
 */
export function timesOf(terms: Pick<GrantTerms, 'valid_from' | 'valid_until'>) {
  const valid_from = terms.valid_from === undefined ? new Date() : new Date(terms.valid_from)
  const valid_until = terms.valid_until === undefined ? null : new Date(terms.valid_until)
  if (valid_until !== null && valid_until <= valid_from) {
    throw new StoreRefusal('valid_until: must be later than valid_from, and than now')
  }
  return { valid_from, valid_until }
}

/** The grant that counts now; null: there is none. Those that are asked for together share a statement. */
export const findGrant = (
  { pool }: Pick<Database, 'pool'>,
  participant: number,
  registry: number,
): Promise<StoredGrant | null> => counting(pool).submit({ participant, registry })

const counting = perPool((pool) =>
  groupCommit<Pick<StoredGrant, 'participant' | 'registry'>, StoredGrant | null>(
    async (wanted) => {
      const { rows } = await pool.query<StoredGrant & { readonly nth: number }>({
        name: 'find grants',
        text: `select nth::integer, granted.*
          from unnest($1::integer[], $2::integer[]) with ordinality as wanted (participant, registry, nth)
            cross join lateral (
              select ${COLUMNS.join(', ')} from participant_grant
              where participant = wanted.participant and registry = wanted.registry and revoked_at is null
                and valid_from <= now() and (valid_until is null or valid_until > now())
              order by id desc limit 1
            ) as granted`,
        values: [wanted.map(({ participant }) => participant), wanted.map(({ registry }) => registry)],
      })
      const found = new Map(rows.map(({ nth, ...grant }) => [nth, grant]))
      return wanted.map((_, at) => found.get(at + 1) ?? null)
    },
    { waiting: Infinity, gathered: true },
  ),
)

/** Those that are not revoked, past and future ones included: of one participant, in one registry, or all. */
export async function listGrants(
  { kysely }: Pick<Database, 'kysely'>,
  of: { readonly participant?: number; readonly registry?: number } = {},
): Promise<readonly StoredGrant[]> {
  let query = kysely.selectFrom('participant_grant').select(COLUMNS).where('revoked_at', 'is', null)
  if (of.participant !== undefined) query = query.where('participant', '=', of.participant)
  if (of.registry !== undefined) query = query.where('registry', '=', of.registry)
  return query.orderBy('participant').orderBy('registry').orderBy('valid_from').execute()
}

/** @returns how many were revoked; every node follows within a second */
export async function revokeGrants(
  { kysely }: Pick<Database, 'kysely'>,
  { participant, registry }: Owner,
): Promise<number> {
  const { numUpdatedRows } = await kysely
    .updateTable('participant_grant')
    .set({ revoked_at: sql<Date>`now()` })
    .where('participant', '=', participant.id)
    .where('registry', '=', registry.id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
