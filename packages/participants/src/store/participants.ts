/** Participants in the database, with the digests of their client secrets. */

import { randomBytes } from 'node:crypto'
import type { MessagePolicy, Participant } from '@rollcall/core/model/participant'
import { commitJournaledWork } from '@rollcall/database/commit-journaled'
import type { Database } from '@rollcall/database/database'
import { isUniqueViolation } from '@rollcall/database/database-errors'
import { createGroupCommit, oncePerPool } from '@rollcall/database/group-commit'
import { StoreRefusal } from '@rollcall/database/refusal'
import { assignmentsSql, valuesSql } from '@rollcall/database/statement-parts'
import { checkSenderId, isTextStorable } from '@rollcall/database/text'
import { DEFAULT_SIGNATURE_PROFILE } from '@rollcall/protocol'
import { sql, type Transaction } from 'kysely'
import {
  checkMessagePolicy,
  DEFAULT_MESSAGE_POLICY,
  findStricterChanges,
  messagePolicyValues,
  withAllowUnsignedDefault,
} from './message-policy.ts'
import { endPartnerSessions } from './sessions.ts'

/** A participant with the SHA-256 of each of its live secrets, the newest first. */
export interface ParticipantWithSecrets {
  readonly participant: Participant
  readonly secrets: readonly Buffer[]
}

const MOST_NAME_CHARACTERS = 255

type ParticipantRow = Omit<Participant, 'signature_profile'> & {
  /** The signature profile as stored; null: the default profile. */
  readonly signature_profile: Participant['signature_profile'] | null
}

const PARTICIPANT_COLUMNS = `id, sender_id, client_id, name, status, max_page_size, rate_limit, concurrency_limit, signature_policy,
  allow_unsigned, signature_profile, encryption_policy, jwks_uri, outgoing, max_subscriptions, demo, environment`

function participantFromRow({ signature_profile, ...row }: ParticipantRow): Participant {
  return { ...row, signature_profile: signature_profile ?? DEFAULT_SIGNATURE_PROFILE }
}

/** The settings that may be given for a new participant; a missing limit is that of the server. */
export type ParticipantSettings = Pick<Participant, 'max_page_size' | 'max_subscriptions' | 'demo' | 'environment'> &
  RequestQuotas &
  MessagePolicy

/** The limits of requests of a participant; null: the limit of the server. */
export type RequestQuotas = Pick<Participant, 'rate_limit' | 'concurrency_limit'>

/**
 * Adds an active participant without a secret; its `client_id` is generated. Its messages must be signed, unless its
 * policy says otherwise. If a participant with this sender_id was removed, its revoked keys stay revoked, and its
 * withdrawn consents stay withdrawn.
 * @throws StoreRefusal the sender_id or the name has the wrong form, the sender_id or the jwks_uri is taken, or a limit
 * or policy is invalid
 */
export async function addParticipant(
  db: Database,
  participant: Pick<Participant, 'sender_id' | 'name'> & Partial<ParticipantSettings>,
): Promise<Participant> {
  const { sender_id, name, max_page_size = null, demo = false, ...given } = participant
  const { rate_limit = null, concurrency_limit = null, ...others } = given
  const { max_subscriptions = null, environment = 'live', ...changes } = others
  const policy = { ...DEFAULT_MESSAGE_POLICY, ...withAllowUnsignedDefault(changes) }
  checkSenderId(sender_id)
  checkName(name)
  checkMaxPageSize(max_page_size)
  checkRequestQuotas({ rate_limit, concurrency_limit })
  checkMaxSubscriptions(max_subscriptions)
  checkMessagePolicy(policy)
  // The id is hexadecimal: a colon would end it in HTTP Basic, and other signs would need an escape in a form or a shell.
  const client_id = randomBytes(16).toString('hex')
  const limits = { max_page_size, rate_limit, concurrency_limit, max_subscriptions }
  const values = { sender_id, client_id, name, ...limits, demo, environment }
  try {
    return await db.kysely.transaction().execute(async (transaction) => {
      const { rows } = await sql<ParticipantRow>`insert into participant
        ${valuesSql({ ...values, ...messagePolicyValues(policy) })} returning ${sql.raw(PARTICIPANT_COLUMNS)}`.execute(
        transaction,
      )
      const [added] = rows
      if (added === undefined) throw new Error('unreachable: a participant was inserted')
      await moveRevokedKeysAndWithdrawals(transaction, added)
      return participantFromRow(added)
    })
  } catch (error) {
    if (isUniqueViolation(error, 'participant_sender_id_key')) {
      throw new StoreRefusal(`a participant with sender_id ${sender_id} exists already`)
    }
    throw toJwksUriRefusal(error)
  }
}

/** Moves the revoked keys and withdrawn consents of a removed participant to a new one with the same sender_id. */
async function moveRevokedKeysAndWithdrawals(
  transaction: Transaction<unknown>,
  { id, sender_id }: Pick<Participant, 'id' | 'sender_id'>,
): Promise<void> {
  for (const table of ['participant_key', 'consent_withdrawal']) {
    await sql`update ${sql.table(table)} set participant = ${id}, former_sender_id = null
      where former_sender_id = ${sender_id}`.execute(transaction)
  }
}

/** Returns a refusal for a jwks_uri that another participant has; any other error unchanged. */
function toJwksUriRefusal(error: unknown): unknown {
  if (!isUniqueViolation(error, 'participant_jwks_uri_key')) return error
  return new StoreRefusal('another participant has this jwks_uri; each participant needs one of its own')
}

function checkName(name: string): void {
  if (name.trim() === '' || name.length > MOST_NAME_CHARACTERS || !isTextStorable(name)) {
    throw new StoreRefusal(`a participant's name has 1 to ${MOST_NAME_CHARACTERS} characters`)
  }
}

function checkMaxPageSize(max_page_size: number | null): void {
  if (max_page_size !== null && !(Number.isInteger(max_page_size) && max_page_size >= 1)) {
    throw new StoreRefusal('max_page_size is a whole number of at least 1')
  }
}

/** Checks the limits of requests. Infinity, which means no limit, is a valid value. */
function checkRequestQuotas({ rate_limit, concurrency_limit }: RequestQuotas): void {
  if (rate_limit !== null && !(rate_limit > 0)) {
    throw new StoreRefusal('rate_limit is a number above 0, or Infinity for no limit')
  }
  if (concurrency_limit !== null && !(concurrency_limit >= 1 && Math.floor(concurrency_limit) === concurrency_limit)) {
    throw new StoreRefusal('concurrency_limit is a whole number of at least 1, or Infinity for no limit')
  }
}

/** Checks the limit of subscriptions. Infinity, which means no limit, is a valid value. */
function checkMaxSubscriptions(most: number | null): void {
  if (most !== null && !(most >= 0 && Math.floor(most) === most)) {
    throw new StoreRefusal('max_subscriptions is a whole number of at least 0, or Infinity for no limit')
  }
}

/** Lists all participants, sorted by sender_id. */
export async function listParticipants(db: Database): Promise<readonly Participant[]> {
  const { rows } = await db.pool.query<ParticipantRow>(`select ${PARTICIPANT_COLUMNS} from participant order by sender_id`)
  return rows.map(participantFromRow)
}

/** Lists the participants without a live secret, which can get no token, sorted by sender_id. */
export async function listParticipantsWithoutSecret(db: Database): Promise<readonly Participant[]> {
  const { rows } = await db.pool.query<ParticipantRow>(
    `select ${PARTICIPANT_COLUMNS} from participant where not exists (
        select from participant_secret where participant = participant.id and retired_at is null)
      order by sender_id`,
  )
  return rows.map(participantFromRow)
}

/** Finds a participant by its sender_id, whatever its status; null when there is none. */
export async function findParticipant(db: Database, sender_id: string): Promise<Participant | null> {
  if (!isTextStorable(sender_id)) return null
  const { rows } = await db.pool.query<ParticipantRow>(`select ${PARTICIPANT_COLUMNS} from participant where sender_id = $1`, [
    sender_id,
  ])
  return rows[0] === undefined ? null : participantFromRow(rows[0])
}

/** Finds a participant by its id, whatever its status; null: none. Simultaneous calls share one statement. */
export const findParticipantById = ({ pool }: Pick<Database, 'pool'>, id: number): Promise<Participant | null> =>
  participantFinder(pool).submit(id)

const participantFinder = oncePerPool((pool) =>
  createGroupCommit<number, Participant | null>(
    async (ids) => {
      const { rows } = await pool.query<ParticipantRow>({
        name: 'find participants',
        text: `select ${PARTICIPANT_COLUMNS} from participant where id = any($1::integer[])`,
        values: [ids],
      })
      const found = new Map(rows.map((row) => [row.id, participantFromRow(row)]))
      return ids.map((id) => found.get(id) ?? null)
    },
    { waiting: Infinity },
  ),
)

/**
 * Sets the status of a participant. Nodes must not cache participants for longer than a second. Disabling also ends the
 * participant's sessions of the partner page for good.
 * @throws StoreRefusal no such participant
 */
export function setParticipantStatus(
  { kysely }: Pick<Database, 'kysely'>,
  sender_id: string,
  status: Participant['status'],
): Promise<Participant> {
  return kysely.transaction().execute(async (transaction) => {
    const changed = await updateParticipant({ kysely: transaction }, sender_id, { status })
    if (status === 'disabled') await endPartnerSessions(transaction, changed)
    return changed
  })
}

/**
 * Changes the given name and limits of a participant. Others stay, and so do subscriptions above a new limit. All nodes
 * follow within a second.
 * @throws StoreRefusal there is no such participant, the name is empty or too long, or a limit is invalid
 */
export async function changeParticipant(
  db: Database,
  sender_id: string,
  changes: Partial<Pick<Participant, 'name' | 'max_page_size' | 'max_subscriptions'> & RequestQuotas>,
): Promise<Participant> {
  const { name, max_page_size = null, rate_limit = null, concurrency_limit = null } = changes
  if (name !== undefined) checkName(name)
  checkMaxPageSize(max_page_size)
  checkRequestQuotas({ rate_limit, concurrency_limit })
  checkMaxSubscriptions(changes.max_subscriptions ?? null)
  return updateParticipant(db, sender_id, changes)
}

/**
 * Changes the given members of a participant's message policy; others stay. All nodes follow within a second.
 * @throws StoreRefusal there is no such participant, the policy is invalid, the jwks_uri is taken, or the changes set a signature
 * policy that accepts unsigned messages, without `allow_unsigned: true`
 */
export async function setMessagePolicy(db: Database, sender_id: string, changes: Partial<MessagePolicy>): Promise<Participant> {
  const current = await findParticipant(db, sender_id)
  if (current === null) throw noParticipantRefusal(sender_id)
  const meant = withAllowUnsignedDefault(changes)
  const policy = { ...current, ...meant }
  checkMessagePolicy(policy)
  const named = Object.entries(messagePolicyValues(policy)).filter(([column]) => Object.hasOwn(meant, column))
  // Only the given members are written, so that two simultaneous changes of different members both succeed.
  if (named.length === 0) return current
  const set = (connection: Pick<Database, 'kysely'>) => updateParticipant(connection, sender_id, Object.fromEntries(named))
  const tightened = findStricterChanges(current, policy)
  if (tightened === null) return set(db)
  const act = { kind: 'policy_tightened', participant: sender_id, ...tightened } as const
  return commitJournaledWork(
    db,
    (transaction) => set({ kysely: transaction }),
    () => act,
  )
}

async function updateParticipant(
  db: Pick<Database, 'kysely'>,
  sender_id: string,
  values: Readonly<Record<string, unknown>>,
): Promise<Participant> {
  if (!isTextStorable(sender_id)) throw noParticipantRefusal(sender_id)
  try {
    const { rows } = await sql<ParticipantRow>`update participant set ${assignmentsSql(values)}
      where sender_id = ${sender_id} returning ${sql.raw(PARTICIPANT_COLUMNS)}`.execute(db.kysely)
    const [changed] = rows
    if (changed === undefined) throw noParticipantRefusal(sender_id)
    return participantFromRow(changed)
  } catch (error) {
    throw toJwksUriRefusal(error)
  }
}

const noParticipantRefusal = (sender_id: string): StoreRefusal => new StoreRefusal(`no participant has sender_id ${sender_id}`)

/** Finds the participant with this client id, whatever its status, and its live secrets; null when there is none. */
export async function findClient(db: Database, client_id: string): Promise<ParticipantWithSecrets | null> {
  if (!isTextStorable(client_id)) return null
  const { rows } = await db.pool.query<ParticipantRow & { secrets: Buffer[] }>({
    name: 'find client',
    text: `select ${PARTICIPANT_COLUMNS}, array(
        select sha256 from participant_secret
        where participant = participant.id and retired_at is null order by id desc
      ) as secrets
      from participant where client_id = $1`,
    values: [client_id],
  })
  const [row] = rows
  if (row === undefined) return null
  const { secrets, ...participant } = row
  return { participant: participantFromRow(participant), secrets }
}

/**
 * Locks the row of a participant until the transaction ends. So transactions that add something to the participant run
 * one after the other, and each sees what the one before added.
 * @throws StoreRefusal no such participant
 */
export async function lockParticipant(
  transaction: Transaction<unknown>,
  participant: Pick<Participant, 'id'>,
): Promise<Pick<Participant, 'id' | 'environment'>> {
  const { rows } = await sql<Pick<Participant, 'id' | 'environment'>>`
    select id, environment from participant where id = ${participant.id} for update`.execute(transaction)
  const [owner] = rows
  if (owner === undefined) throw new StoreRefusal('no such participant')
  return owner
}
