/** Stores withdrawals: of one signed consent, or of all consents of a person for a purpose. Persons are pseudonyms. */

import type { Database } from '@rollcall/database/database'
import { StoreRefusal } from '@rollcall/database/refusal'
import { isTextStorable } from '@rollcall/database/text'
import type { ClientBase } from 'pg'
import type { ConsentUseSelection } from './consent-uses.ts'

const MOST_JTI_CHARACTERS = 200

/**
 * Checks the jti of signed consents before their revocation is written to the journal. A revocation that is refused must not be
 * in the journal, because a restore repeats what is there.
 * @throws StoreRefusal a jti is empty or too long, or cannot be stored
 */
export function checkJtis(jtis: readonly string[]): void {
  // Code points are counted, as in `ConsentClaims`.
  if (jtis.every((jti) => jti !== '' && [...jti].length <= MOST_JTI_CHARACTERS && isTextStorable(jti))) return
  throw new StoreRefusal(`jti: must have 1 to ${MOST_JTI_CHARACTERS} characters`)
}

/**
 * Revokes signed consents for ever, also those that were never used.
 * @param authority `ConsentAuthority.id`
 * @returns an SQL condition with its values, which selects the stored uses of these consents
 * @throws StoreRefusal as `checkJtis` does
 */
export async function revokeSignedConsents(
  { pool }: Pick<Database, 'pool'>,
  authority: number,
  jtis: readonly string[],
): Promise<ConsentUseSelection> {
  checkJtis(jtis)
  await pool.query(
    `insert into signed_consent as known (authority, jti, revoked_at)
     select $1, jti, now() from unnest($2::text[]) as jti
     on conflict (authority, jti) do update set revoked_at = coalesce(known.revoked_at, excluded.revoked_at)`,
    [authority, [...new Set(jtis)]],
  )
  return { condition: (row) => `${row}.authority = $1 and ${row}.jti = any($2::text[])`, values: [authority, jtis] }
}

/** The consents that are withdrawn: those of a person for a purpose. */
export interface Withdrawal {
  /** The pseudonyms of the person's identifiers. */
  readonly pseudonyms: readonly Uint8Array[]
  readonly purpose: string
  /** The participant to which the consents were given; null: every participant. */
  readonly participant: number | null
}

/**
 * Withdraws the consents of a person for a purpose: the signed consents that were given before now, and every consent that a
 * participant asserts without a signature, now or later, until the withdrawal is lifted.
 * @returns an SQL condition that selects the stored uses for this person, purpose and participant
 */
export async function withdrawConsents(
  { pool }: Pick<Database, 'pool'>,
  { pseudonyms, purpose, participant }: Withdrawal,
): Promise<ConsentUseSelection> {
  const values = [pseudonyms, purpose, participant]
  await pool.query('insert into consent_withdrawal (pseudonyms, purpose, participant) values ($1, $2, $3)', values)
  return {
    condition: (row) =>
      `${row}.pseudonyms && $1::bytea[] and ${row}.purpose = $2 and ($3::integer is null or ${row}.participant = $3)`,
    values,
  }
}

/** Lifts the withdrawals of a person for a purpose, because the person consents again. @returns how many */
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

/** Selects the stored uses of all consents that this authority has signed. */
export const consentsSignedBy = (authority: number): ConsentUseSelection => ({
  condition: (row) => `${row}.authority = $1`,
  values: [authority],
})
