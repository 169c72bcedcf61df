/** Withdrawals of consents: of a signed one, or of a person for a purpose. Persons are pseudonyms. */

import type { Database } from '@rollcall/database/database'
import { StoreRefusal } from '@rollcall/database/refusal'
import { isStorable } from '@rollcall/database/text'
import { withTransaction } from '@rollcall/database/transaction'
import type { ClientBase } from 'pg'
import { type Stopped, stopEnded, type Which } from './stopping.ts'

const JTI_LIMIT = 200

/**
 * The withdrawal is committed before: what is committed beside it either finds it, or is found here. What is missed should this
 * fail, housekeeping and the next attempts find.
 */
const stop = (pool: Database['pool'], which: Which): Promise<Stopped> =>
  withTransaction(pool, (client) => stopEnded(client, which))

/** @throws StoreRefusal */
function checkJti(jti: string): void {
  if (jti === '' || jti.length > JTI_LIMIT || !isStorable(jti)) {
    throw new StoreRefusal(`jti: must have 1 to ${JTI_LIMIT} characters`)
  }
}

/**
 * Revokes signed consents for ever, also those that were not used yet.
 * @param authority `ConsentAuthority.id`
 * @throws StoreRefusal
 */
export async function revokeSigned(
  { pool }: Pick<Database, 'pool'>,
  authority: number,
  jtis: readonly string[],
): Promise<Stopped> {
  for (const jti of jtis) checkJti(jti)
  await pool.query(
    `insert into signed_consent as known (authority, jti, revoked_at)
     select $1, jti, now() from unnest($2::text[]) as jti
     on conflict (authority, jti) do update set revoked_at = coalesce(known.revoked_at, excluded.revoked_at)`,
    [authority, [...new Set(jtis)]],
  )
  return stop(pool, {
    condition: (row) => `${row}.authority = $1 and ${row}.jti = any($2::text[])`,
    values: [authority, jtis],
  })
}

/** Whether a purpose is configured, granted, or something was answered for it. */
export async function isKnownPurpose({ pool }: Pick<Database, 'pool'>, purpose: string): Promise<boolean> {
  if (!isStorable(purpose)) return false
  const { rows } = await pool.query<{ known: boolean }>(
    `select exists (select from purpose where code = $1)
      or exists (select from participant_grant where terms -> 'purposes' ? $1)
      or exists (select from subscription_consent where purpose = $1)
      or exists (select from consent_use where purpose = $1) as known`,
    [purpose],
  )
  return rows[0]?.known === true
}

export interface Withdrawal {
  /** Of the identifiers of the person. */
  readonly pseudonyms: readonly Uint8Array[]
  readonly purpose: string
  /** Null: of every participant. */
  readonly participant: number | null
}

/** Withdraws what a person has consented to: everything until now, and what nobody signs from now on. */
export async function withdraw(
  { pool }: Pick<Database, 'pool'>,
  { pseudonyms, purpose, participant }: Withdrawal,
): Promise<Stopped> {
  const values = [pseudonyms, purpose, participant]
  await pool.query('insert into consent_withdrawal (pseudonyms, purpose, participant) values ($1, $2, $3)', values)
  return stop(pool, {
    condition: (row) =>
      `${row}.pseudonyms && $1::bytea[] and ${row}.purpose = $2 and ($3::integer is null or ${row}.participant = $3)`,
    values,
  })
}

/** The person consents again: withdrawals for the purpose count no more. @returns how many */
export async function liftWithdrawals(
  client: Pick<ClientBase, 'query'>,
  { pseudonyms, purpose, participant }: Withdrawal,
): Promise<number> {
  const { rowCount } = await client.query(
    `update consent_withdrawal set lifted_at = now()
     where lifted_at is null and pseudonyms && $1::bytea[] and purpose = $2
       and ($3::integer is null or participant = $3)`,
    [pseudonyms, purpose, participant],
  )
  return rowCount ?? 0
}

/** The consents of an authority do not count any more. */
export const stopOfAuthority = ({ pool }: Pick<Database, 'pool'>, authority: number): Promise<Stopped> =>
  stop(pool, { condition: (row) => `${row}.authority = $1`, values: [authority] })
