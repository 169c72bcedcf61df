/** Under which consents something was answered, and whether they still hold. */
import type { ClientBase } from 'pg'
import type { ConsentUse } from '../../model/consent.ts'
import type { Database } from '../db/database.ts'
import { hasEnded } from '../events/consent-ended.ts'

const valuesOf = ({ participant, pseudonyms, purpose, signed }: ConsentUse): unknown[] => [
  ...[participant, pseudonyms, purpose],
  ...[signed?.authority ?? null, signed?.jti ?? null, signed?.given_at ?? null, signed?.expires_at ?? null],
]

/** Whether a consent was withdrawn, revoked, or has expired by the clock of the database. */
export async function isEnded({ pool }: Pick<Database, 'pool'>, use: ConsentUse): Promise<boolean> {
  const { rows } = await pool.query<{ ended: boolean }>({
    name: 'is a consent ended',
    text: `select coalesce(${hasEnded('used')}, false) as ended
      from (select $1::integer as participant, $2::bytea[] as pseudonyms, $3::text as purpose, $4::integer as authority,
        $5::text as jti, $6::timestamptz as given_at, $7::timestamptz as expires_at) as used`,
    values: valuesOf(use),
  })
  return rows[0]?.ended === true
}

/** Who used a signed consent first, and about whom. */
export interface FirstUse {
  readonly participant: number
  readonly pseudonym: Buffer
}

/** The first use of a signed consent; this one, where there was none before. */
export async function firstUse(
  { pool }: Pick<Database, 'pool'>,
  signed: NonNullable<ConsentUse['signed']>,
  { participant, pseudonym }: FirstUse,
): Promise<FirstUse> {
  const named = [signed.authority, signed.jti]
  const find = async (): Promise<FirstUse | undefined> => {
    const { rows } = await pool.query<FirstUse>({
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

/** Writes under which consents items of an exchange are answered. */
export async function insertUses(
  client: ClientBase,
  correlation_id: string,
  uses: readonly { readonly reference_id: string; readonly use: ConsentUse }[],
): Promise<void> {
  for (const { reference_id, use } of uses) {
    await client.query({
      name: 'insert consent use',
      text: `insert into consent_use (correlation_id, reference_id, participant, pseudonyms, purpose, authority, jti,
          given_at, expires_at) values ($8, $9, $1, $2, $3, $4, $5, $6, $7)`,
      values: [...valuesOf(use), correlation_id, reference_id],
    })
  }
}

/** The answer of one exchange is given again in that of another. */
export async function copyUses(client: ClientBase, from: string, to: string): Promise<void> {
  await client.query(
    `insert into consent_use (correlation_id, reference_id, participant, pseudonyms, purpose, authority, jti, given_at,
       expires_at)
     select $2, reference_id, participant, pseudonyms, purpose, authority, jti, given_at, expires_at
     from consent_use where correlation_id = $1`,
    [from, to],
  )
}

/** Of an exchange, by the reference_ids of items that were answered under a consent: whether each of their consents holds. */
export async function usesOf(
  { pool }: { readonly pool: Pick<Database['pool'], 'query'> },
  correlation_id: string,
): Promise<ReadonlyMap<string, boolean>> {
  const { rows } = await pool.query<{ reference_id: string; holds: boolean }>({
    name: 'find consent uses',
    text: `select reference_id, bool_and(not coalesce(${hasEnded('used')}, false)) as holds
      from consent_use as used where correlation_id = $1 group by reference_id`,
    values: [correlation_id],
  })
  return new Map(rows.map(({ reference_id, holds }) => [reference_id, holds]))
}
