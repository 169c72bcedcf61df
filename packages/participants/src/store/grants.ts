/** Grants of participants in registries. A change writes a new row; the former row stays in the table. */

import type { Environment } from '@rollcall/core/model/environment'
import type { GrantTerms } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { createGroupCommit, oncePerPool } from '@rollcall/database/group-commit'
import { StoreRefusal } from '@rollcall/database/refusal'
import { isTextStorable } from '@rollcall/database/text'
import { timestampInstant } from '@rollcall/protocol'
import { REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'
import { sql, type Transaction } from 'kysely'
import { lockParticipant } from './participants.ts'

/** A grant of a participant in a registry, as it is stored. */
export interface StoredGrant {
  readonly id: number
  readonly participant: number
  readonly registry: number
  readonly terms: GrantTerms
  readonly valid_from: Date
  /** The end of the grant; null: it has no end. */
  readonly valid_until: Date | null
}

const GRANT_COLUMNS = 'id, participant, registry, terms, valid_from, valid_until'

/** The participant to which a grant belongs, and the registry in which it holds. */
interface GrantHolderAndRegistry {
  readonly participant: Pick<Participant, 'id'>
  readonly registry: Pick<Registry, 'id'>
}

/**
 * Adds a grant, in force from `valid_from` on.
 * @param replace true revokes every other grant of the participant in the registry; false refuses when another grant
 * overlaps in time
 * @throws StoreRefusal as `changeGrants`
 */
export async function addGrant(
  db: Pick<Database, 'kysely'>,
  owner: GrantHolderAndRegistry,
  terms: GrantTerms,
  { replace }: { readonly replace: boolean },
): Promise<StoredGrant> {
  const [added] = await changeGrants(db, owner, { revoke: replace ? 'all' : [], add: [terms] })
  if (added === undefined) throw new Error('unreachable: a grant was added')
  return added
}

/** True when a participant has, or once had, a grant in one of the registries. */
export async function hasHadGrant(
  { pool }: Pick<Database, 'pool'>,
  sender_id: string,
  registries: readonly number[],
): Promise<boolean> {
  if (!isTextStorable(sender_id)) return false
  const { rowCount } = await pool.query(
    `select from participant_grant join participant on participant.id = participant
      where sender_id = $1 and registry = any($2) limit 1`,
    [sender_id, registries],
  )
  return rowCount === 1
}

/** The grants to revoke and the terms of those to add. */
export interface GrantChanges {
  /** The ids of the grants to revoke; 'all': every grant of the participant in the registry. */
  readonly revoke: readonly number[] | 'all'
  readonly add: readonly GrantTerms[]
}

/**
 * Revokes and adds grants of a participant in a registry in one transaction.
 * @returns the added grants
 * @throws StoreRefusal two grants would be in force at the same time, one would not end after it begins, participant
 * and registry have different environments, or one of the two does not exist
 */
export async function changeGrants(
  { kysely }: Pick<Database, 'kysely'>,
  { participant, registry }: GrantHolderAndRegistry,
  { revoke, add }: GrantChanges,
): Promise<readonly StoredGrant[]> {
  return kysely.transaction().execute(async (transaction) => {
    const locked = await lockParticipant(transaction, participant)
    const owner = { participant: locked, registry }
    if (add.length > 0) await checkSameEnvironment(transaction, locked, registry)
    if (revoke === 'all' || revoke.length > 0) {
      const ids = revoke === 'all' ? null : [...revoke]
      await sql`update participant_grant set revoked_at = now()
        where participant = ${locked.id} and registry = ${registry.id} and revoked_at is null
          and (${ids}::integer[] is null or id = any(${ids}))`.execute(transaction)
    }
    const added: StoredGrant[] = []
    for (const terms of add) added.push(await insertGrant(transaction, owner, terms))
    return added
  })
}

/** Refuses a grant when one of participant and registry is sandbox and the other live. @throws StoreRefusal */
async function checkSameEnvironment(
  transaction: Transaction<unknown>,
  { environment }: Pick<Participant, 'environment'>,
  { id }: Pick<Registry, 'id'>,
): Promise<void> {
  const { rows } = await sql<Pick<Registry, 'namespace' | 'environment'>>`
    select namespace, environment from ${sql.raw(REGISTRIES_SQL)} as registry where id = ${id}`.execute(transaction)
  const [registry] = rows
  if (registry === undefined) throw new StoreRefusal('no such registry')
  const problem = grantEnvironmentProblem(environment, registry)
  if (problem !== null) throw new StoreRefusal(problem)
}

/** Says why a participant of this environment may have no grant in the registry; null: it may have one. */
export function grantEnvironmentProblem(
  participant: Environment,
  { namespace, environment }: Pick<Registry, 'namespace' | 'environment'>,
): string | null {
  if (participant === environment) return null
  return `the registry ${namespace} is ${environment} and the participant is ${participant}; ${GRANT_ADVICE_BY_ENVIRONMENT[participant]}`
}

/** Advice for an operator when the environments of registry and participant differ, by that of the participant. */
const GRANT_ADVICE_BY_ENVIRONMENT: Readonly<Record<Environment, string>> = {
  sandbox: 'rollcall participant promote makes a participant live',
  live: 'add a sandbox participant for it with rollcall participant add --sandbox',
}

async function insertGrant(
  transaction: Transaction<unknown>,
  { participant, registry }: GrantHolderAndRegistry,
  terms: GrantTerms,
): Promise<StoredGrant> {
  const { valid_from, valid_until } = requireGrantPeriod(terms)
  // Without `valid_from`, the grant begins at the database's time, not at this node's, so that `findGrant` finds the grant at
  // once.
  const from = terms.valid_from === undefined ? sql`now()` : sql`${valid_from}::timestamptz`
  const [overlapping] = (
    await sql<Pick<StoredGrant, 'id'>>`select id from participant_grant
      where participant = ${participant.id} and registry = ${registry.id} and revoked_at is null
        and tstzrange(valid_from, valid_until) && tstzrange(${from}, ${valid_until}) limit 1`.execute(transaction)
  ).rows
  if (overlapping !== undefined) {
    throw new StoreRefusal(`valid_from: overlaps grant ${overlapping.id}; at any time a participant has one grant in a registry`)
  }
  const { rows } = await sql<StoredGrant>`
    insert into participant_grant (participant, registry, terms, valid_from, valid_until)
    values (${participant.id}, ${registry.id}, ${JSON.stringify(terms)}, ${from}, ${valid_until})
    returning ${sql.raw(GRANT_COLUMNS)}`.execute(transaction)
  const [added] = rows
  if (added === undefined) throw new Error('unreachable: a grant was inserted')
  return added
}

/** The message about a grant that would be over before it begins, or is over already. */
export const GRANT_END_RULE = 'valid_until: must be later than valid_from, and than now'

/** The start and end of a grant with these terms, added now. @throws StoreRefusal its end is not after its start */
export function requireGrantPeriod(terms: Pick<GrantTerms, 'valid_from' | 'valid_until'>, now = new Date()) {
  const { valid_from, valid_until } = uncheckedGrantPeriod(terms, now)
  if (valid_until !== null && valid_until <= valid_from) {
    throw new StoreRefusal(GRANT_END_RULE)
  }
  return { valid_from, valid_until }
}

/** Reads the start and end that the terms name. Without a start it is `now`; without an end it is null. */
export const uncheckedGrantPeriod = (terms: Pick<GrantTerms, 'valid_from' | 'valid_until'>, now = new Date()) => ({
  valid_from: readTime(terms.valid_from) ?? now,
  valid_until: readTime(terms.valid_until),
})

/** Reads a time; null when there is none. A leap second, which `new Date(text)` would not read, becomes the next second. */
const readTime = (text: string | undefined): Date | null =>
  text === undefined ? null : new Date(timestampInstant(text) ?? Number.NaN)

/** Finds the grant in force; null when there is none. Simultaneous calls share one statement. */
export const findGrant = ({ pool }: Pick<Database, 'pool'>, participant: number, registry: number): Promise<StoredGrant | null> =>
  grantFinder(pool).submit({ participant, registry })

const grantFinder = oncePerPool((pool) =>
  createGroupCommit<Pick<StoredGrant, 'participant' | 'registry'>, StoredGrant | null>(
    async (wanted) => {
      const { rows } = await pool.query<StoredGrant & { readonly nth: number }>({
        name: 'find grants',
        text: `select nth::integer, granted.*
          from unnest($1::integer[], $2::integer[]) with ordinality as wanted (participant, registry, nth)
            cross join lateral (
              select ${GRANT_COLUMNS} from participant_grant
              where participant = wanted.participant and registry = wanted.registry and revoked_at is null
                and valid_from <= now() and (valid_until is null or valid_until > now())
              order by id desc limit 1
            ) as granted`,
        values: [wanted.map(({ participant }) => participant), wanted.map(({ registry }) => registry)],
      })
      const found = new Map(rows.map(({ nth, ...grant }) => [nth, grant]))
      return wanted.map((_, at) => found.get(at + 1) ?? null)
    },
    { waiting: Infinity },
  ),
)

/** SQL for a `from` clause of other packages: the grants in force. */
export const GRANTS_IN_FORCE_SQL = `(select participant, registry, terms from participant_grant
  where revoked_at is null and valid_from <= now() and (valid_until is null or valid_until > now()))`

/** SQL for a `from` clause: all grants, also revoked ones, with the time at which each came into force. */
export const GRANT_STARTS_SQL = '(select id, registry, greatest(created_at, valid_from) as starts from participant_grant)'

/** Lists the grants that are not revoked, also past and future ones: of one participant, in one registry, or all. */
export async function listGrants(
  { pool }: Pick<Database, 'pool'>,
  { participant, registry }: { readonly participant?: number; readonly registry?: number } = {},
): Promise<readonly StoredGrant[]> {
  const { rows } = await pool.query<StoredGrant>(
    `select ${GRANT_COLUMNS} from participant_grant
      where revoked_at is null and ($1::integer is null or participant = $1) and ($2::integer is null or registry = $2)
      order by participant, registry, valid_from`,
    [participant ?? null, registry ?? null],
  )
  return rows
}

/** Revokes all grants of a participant in a registry; every node follows within a second. @returns their number */
export async function revokeGrants(
  { kysely }: Pick<Database, 'kysely'>,
  { participant, registry }: GrantHolderAndRegistry,
): Promise<number> {
  const { numAffectedRows } = await sql`update participant_grant set revoked_at = now()
    where participant = ${participant.id} and registry = ${registry.id} and revoked_at is null`.execute(kysely)
  return Number(numAffectedRows)
}
