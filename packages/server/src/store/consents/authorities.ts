/** Consent authorities: who may sign consents, and with which keys. */
import type { Jwk, PublicKey } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import type { AllowedHost } from '../../model/allowed-hosts.ts'
import type { Database } from '../db/database.ts'
import { StoreRefusal } from '../db/refusal.ts'
import { isStorable } from '../db/text.ts'
import { withTransaction } from '../db/transaction.ts'

export interface ConsentAuthority {
  readonly id: number
  /** The `iss` of its consents. */
  readonly name: string
  readonly jwks_uri: string | null
  readonly outgoing: readonly AllowedHost[]
  /** Those that are registered. */
  readonly keys: readonly PublicKey[]
}

const NAME_LIMIT = 200

/** @throws StoreRefusal */
export function checkAuthorityName(name: string): void {
  if (name.trim() !== name || name === '' || name.length > NAME_LIMIT || !isStorable(name)) {
    throw new StoreRefusal(`name: must have 1 to ${NAME_LIMIT} characters, without blanks at its ends`)
  }
}

/**
 * Adds an authority, or makes one as it is given here: its keys are these and no others. One that was removed is there again,
 * and what it had revoked stays revoked.
 * @throws StoreRefusal
 */
export async function putAuthority(
  { pool }: Pick<Database, 'pool'>,
  { name, jwks_uri, outgoing, keys }: Omit<ConsentAuthority, 'id'>,
): Promise<void> {
  checkAuthorityName(name)
  const twice = keys.find(({ kid }, at) => keys.findIndex((key) => key.kid === kid) !== at)
  if (twice !== undefined) throw new StoreRefusal('keys: two of them have the same kid')
  await withTransaction(pool, async (client) => {
    const { rows } = await client.query<{ id: number }>(
      `insert into consent_authority (name, jwks_uri, outgoing) values ($1, $2, $3)
       on conflict (name) do update set jwks_uri = $2, outgoing = $3, removed_at = null
       returning id`,
      [name, jwks_uri, JSON.stringify(outgoing)],
    )
    const id = rows[0]?.id
    await client.query('delete from consent_authority_key where authority = $1', [id])
    for (const { kid, algorithm, public_jwk, thumbprint } of keys) {
      await client.query(
        `insert into consent_authority_key (authority, kid, algorithm, public_jwk, thumbprint)
         values ($1, $2, $3, $4, $5)`,
        [id, kid, algorithm, JSON.stringify(public_jwk), thumbprint],
      )
    }
  })
}

interface KeyRow {
  readonly kid: string
  readonly algorithm: string
  readonly public_jwk: Jwk
  readonly thumbprint: string
}

type Row = Omit<ConsentAuthority, 'keys'> & { readonly keys: readonly KeyRow[] }

const SELECT = `select id, name, jwks_uri, outgoing,
    (select coalesce(json_agg(json_build_object('kid', kid, 'algorithm', algorithm, 'public_jwk', public_jwk,
      'thumbprint', thumbprint) order by created_at, kid), '[]')
      from consent_authority_key where authority = consent_authority.id) as keys
  from consent_authority where removed_at is null`

const withUse = ({ keys, ...row }: Row): ConsentAuthority => ({
  ...row,
  keys: keys.map((key) => ({ ...key, use: 'sig' })),
})

/** Those that are not removed, by name. */
export async function listAuthorities({
  pool,
}: Pick<Database, 'pool'>): Promise<readonly ConsentAuthority[]> {
  const { rows } = await pool.query<Row>(`${SELECT} order by name`)
  return rows.map(withUse)
}

/** Null: there is none of this name. */
export async function findAuthority(
  { pool }: Pick<Database, 'pool'>,
  name: string,
): Promise<ConsentAuthority | null> {
  if (!isStorable(name)) return null
  const { rows } = await pool.query<Row>({
    name: 'find consent authority',
    text: `${SELECT} and name = $1`,
    values: [name],
  })
  return rows[0] === undefined ? null : withUse(rows[0])
}

/** The number of an authority, also of one that was removed; one that is not there is stored as removed. */
export async function authorityNumber(client: Pick<ClientBase, 'query'>, name: string): Promise<number> {
  checkAuthorityName(name)
  const { rows } = await client.query<{ id: number }>(
    `insert into consent_authority as known (name, removed_at) values ($1, now())
     on conflict (name) do update set name = known.name returning id`,
    [name],
  )
  const [row] = rows
  if (row === undefined) throw new Error('the authority was not inserted')
  return row.id
}

/** Its consents do not count any more. @returns its id; null: there is none of this name */
export async function removeAuthority(
  client: Pick<ClientBase, 'query'>,
  name: string,
): Promise<number | null> {
  const { rows } = await client.query<{ id: number }>(
    'update consent_authority set removed_at = now() where name = $1 and removed_at is null returning id',
    [name],
  )
  return rows[0]?.id ?? null
}
