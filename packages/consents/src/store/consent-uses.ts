/** Stores the consents under which items were answered. Finds out whether consents have ended. */

import type { ConsentSummary, ConsentUse } from '@rollcall/core/model/consent'
import type { Database } from '@rollcall/database/database'
import type { ExpiringRows } from '@rollcall/database/holds'
import { senderIdSql } from '@rollcall/participants/store/participant-names'
import type { ClientBase } from 'pg'
import { authorityNameSql, hasConsentEndedSql } from './consent-ended.ts'

/**
 * The pseudonyms of a person as one text, for a statement about several persons: PostgreSQL has no list of lists of different
 * lengths. `pseudonymsSql` reads the text.
 */
export const pseudonymsText = (pseudonyms: ConsentUse['pseudonyms']): string =>
  pseudonyms.map((one) => Buffer.from(one).toString('hex')).join()

/** SQL of the pseudonyms in a column of texts (`pseudonymsText`). */
export const pseudonymsSql = (column: string): string =>
  `array(select decode(hex, 'hex') from unnest(string_to_array(${column}, ',')) as hex)`

const consentUseValues = ({ participant, pseudonyms, purpose, signed }: ConsentUse): unknown[] => [
  ...[participant, pseudonyms, purpose],
  ...[signed?.authority ?? null, signed?.jti ?? null, signed?.given_at ?? null, signed?.expires_at ?? null],
]

/** True when a consent was withdrawn or revoked, has expired by the clock of the database, or its authority was removed. */
export async function isConsentEnded({ pool }: Pick<Database, 'pool'>, use: ConsentUse): Promise<boolean> {
  const { rows } = await pool.query<{ ended: boolean }>({
    name: 'is a consent ended',
    text: `select coalesce(${hasConsentEndedSql('used')}, false) as ended
      from (select $1::integer as participant, $2::bytea[] as pseudonyms, $3::text as purpose, $4::integer as authority,
        $5::text as jti, $6::timestamptz as given_at, $7::timestamptz as expires_at) as used`,
    values: consentUseValues(use),
  })
  return rows[0]?.ended === true
}

/** True when at least one of the consents has expired, was revoked or withdrawn, or has lost its authority. */
export async function isAnyConsentEnded(client: Pick<ClientBase, 'query'>, uses: readonly ConsentUse[]): Promise<boolean> {
  const text = JSON.stringify(
    uses.map(({ participant, pseudonyms, purpose, signed }) => ({
      participant,
      purpose,
      ...signed,
      pseudonyms: pseudonymsText(pseudonyms),
    })),
  )
  const { rows } = await client.query<{ ended: boolean }>({
    name: 'is one of several consents ended',
    text: `with used as materialized (
        select participant, purpose, authority, jti, given_at, expires_at, ${pseudonymsSql('given.pseudonyms')} as pseudonyms
        from jsonb_to_recordset($1::jsonb) as given (participant integer, purpose text, authority integer, jti text,
          given_at timestamptz, expires_at timestamptz, pseudonyms text)
      )
      select exists (select from used where coalesce(${hasConsentEndedSql('used')}, false)) as ended`,
    values: [text],
  })
  return rows[0]?.ended === true
}

/** The participant that was the first to use a signed consent, and the person. */
export interface FirstConsentUse {
  readonly participant: number
  readonly pseudonym: Uint8Array
}

/** Finds the first use of a signed consent. When there was none, stores and returns this use. */
export async function noteFirstConsentUse(
  { pool }: Pick<Database, 'pool'>,
  signed: NonNullable<ConsentUse['signed']>,
  { participant, pseudonym }: FirstConsentUse,
): Promise<FirstConsentUse> {
  const named = [signed.authority, signed.jti]
  const find = async (): Promise<FirstConsentUse | undefined> => {
    const { rows } = await pool.query<FirstConsentUse>({
      name: 'find first use of a consent',
      text: `select participant, pseudonym from signed_consent
        where authority = $1 and jti = $2 and participant is not null`,
      values: named,
    })
    return rows[0]
  }
  const known = await find()
  if (known !== undefined) return known
  await pool.query({
    name: 'note first use of a consent',
    text: `insert into signed_consent as known (authority, jti, participant, pseudonym, expires_at, used_at)
      values ($1, $2, $3, $4, $5, now())
      on conflict (authority, jti) do update set participant = excluded.participant, pseudonym = excluded.pseudonym,
        expires_at = excluded.expires_at, used_at = excluded.used_at where known.participant is null`,
    values: [...named, participant, pseudonym, signed.expires_at],
  })
  return (await find()) ?? { participant, pseudonym }
}

/** Days for which an expired consent and its first user stay stored. */
const EXPIRED_CONSENT_KEPT_DAYS = 7

/** The most signed consents that are deleted in one statement, because millions may expire on one day. */
const MOST_DELETED_CONSENTS = 5_000

/**
 * Deletes signed consents that expired more than `EXPIRED_CONSENT_KEPT_DAYS` days ago, except revoked ones. Several nodes may do
 * so at once. @returns how many
 */
export async function deleteExpiredConsents({ pool }: Pick<Database, 'pool'>): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await pool.query(
      `delete from signed_consent where ctid = any(array(
         select ctid from signed_consent where revoked_at is null and expires_at < now() - make_interval(days => $1)
         order by expires_at limit ${MOST_DELETED_CONSENTS} for update skip locked))`,
      [EXPIRED_CONSENT_KEPT_DAYS],
    )
    total += rowCount ?? 0
    if ((rowCount ?? 0) < MOST_DELETED_CONSENTS) return total
  }
}

/** Stores the consents under which items of an exchange are answered. */
export async function insertConsentUses(
  client: ClientBase,
  correlation_id: string,
  uses: readonly { readonly reference_id: string; readonly use: ConsentUse }[],
): Promise<void> {
  if (uses.length === 0) return
  await client.query({
    name: 'insert consent uses',
    text: `insert into consent_use (correlation_id, reference_id, participant, purpose, pseudonyms, authority, jti, given_at,
        expires_at)
      select $1::uuid, reference_id, participant, purpose, ${pseudonymsSql('pseudonyms')}, authority, jti, given_at, expires_at
      from unnest($2::text[], $3::integer[], $4::text[], $5::text[], $6::integer[], $7::text[], $8::timestamptz[],
        $9::timestamptz[])
        as used (reference_id, participant, purpose, pseudonyms, authority, jti, given_at, expires_at)`,
    values: [
      correlation_id,
      uses.map(({ reference_id }) => reference_id),
      ...(['participant', 'purpose'] as const).map((name) => uses.map(({ use }) => use[name])),
      uses.map(({ use }) => pseudonymsText(use.pseudonyms)),
      ...(['authority', 'jti', 'given_at', 'expires_at'] as const).map((name) =>
        uses.map(({ use }) => use.signed?.[name] ?? null),
      ),
    ],
  })
}

/** Selects uses of consents: an SQL condition on a row of uses, with parameters from $1. */
export interface ConsentUseSelection {
  readonly condition: (row: string) => string
  readonly values: readonly unknown[]
}

/** SQL that selects the correlation_ids of exchanges in which an item was answered under a selected consent that has ended. */
export const exchangesOfEndedConsentsSql = ({ condition }: ConsentUseSelection): string =>
  `select distinct correlation_id from consent_use as used
    where ${condition('used')} and coalesce(${hasConsentEndedSql('used')}, false)`

/** Uses of consents for `forgetExchanges`, which deletes them when they are older than the retention. */
export const CONSENT_USE_RETENTION_ROWS: ExpiringRows = {
  table: 'consent_use',
  since: 'received_at',
  sender_id: senderIdSql('consent_use.participant'),
}

/** True when a stored use of a consent has this purpose. */
export async function isUsedPurpose({ pool }: Pick<Database, 'pool'>, purpose: string): Promise<boolean> {
  const { rowCount } = await pool.query('select from consent_use where purpose = $1 limit 1', [purpose])
  return rowCount === 1
}

/** Copies the uses of these items of an exchange to another exchange that repeats their answers. */
export async function copyConsentUses(
  client: ClientBase,
  { correlation_id, reference_ids }: { readonly correlation_id: string; readonly reference_ids: readonly string[] },
  to: string,
): Promise<void> {
  await client.query(
    `insert into consent_use (correlation_id, reference_id, participant, pseudonyms, purpose, authority, jti, given_at,
       expires_at)
     select $2, reference_id, participant, pseudonyms, purpose, authority, jti, given_at, expires_at
     from consent_use where correlation_id = $1 and reference_id = any($3::text[])`,
    [correlation_id, to, reference_ids],
  )
}

/** The consent under which an item was answered, and whether it still holds. */
export interface ConsentOfItem extends ConsentSummary {
  readonly reference_id: string
  /** True when the consent has not ended. */
  readonly holds: boolean
}

/** Finds the consents under which the items of an exchange were answered. */
export async function findConsentUses(
  { pool }: { readonly pool: Pick<Database['pool'], 'query'> },
  correlation_id: string,
): Promise<readonly ConsentOfItem[]> {
  const { rows } = await pool.query<ConsentOfItem>({
    name: 'find consent uses',
    text: `select reference_id, purpose, not coalesce(${hasConsentEndedSql('used')}, false) as holds,
        ${authorityNameSql('used.authority')} as authority
      from consent_use as used where correlation_id = $1`,
    values: [correlation_id],
  })
  return rows
}
