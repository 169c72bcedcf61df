/** Stores consent authorities: who may sign consents, and with which keys. */

import { type AllowedHost, hostsNotIn } from '@rollcall/core/model/allowed-hosts'
import type { JournalAct } from '@rollcall/core/model/journal'
import { commitJournaledWork } from '@rollcall/database/commit-journaled'
import type { Database } from '@rollcall/database/database'
import { StoreRefusal } from '@rollcall/database/refusal'
import { isTextStorable } from '@rollcall/database/text'
import { withTransaction } from '@rollcall/database/transaction'
import type { Jwk, PublicKey } from '@rollcall/protocol'
import { sql, type Transaction } from 'kysely'
import type { ClientBase } from 'pg'

export interface ConsentAuthority {
  readonly id: number
  /** The authority's name, which is the `iss` of its consents. */
  readonly name: string
  readonly jwks_uri: string | null
  readonly outgoing: readonly AllowedHost[]
  /** The keys that the operator registered. */
  readonly keys: readonly PublicKey[]
}

const MOST_NAME_CHARACTERS = 200

/** Checks the name of an authority. @throws StoreRefusal */
export function checkAuthorityName(name: string): void {
  if (name.trim() !== name || name === '' || name.length > MOST_NAME_CHARACTERS || !isTextStorable(name)) {
    throw new StoreRefusal(`name: must have 1 to ${MOST_NAME_CHARACTERS} characters, without blanks at its ends`)
  }
}

/**
 * Adds an authority, or replaces its settings and keys. A removed authority is accepted again, but those of its consents that
 * were revoked before stay revoked.
 * @throws StoreRefusal the name has the wrong form, or two of the keys have one kid
 */
export async function putAuthority(
  db: Pick<Database, 'kysely' | 'journal'>,
  authority: Omit<ConsentAuthority, 'id'>,
): Promise<void> {
  const { name, keys } = authority
  checkAuthorityName(name)
  const twice = keys.find(({ kid }, at) => keys.findIndex((key) => key.kid === kid) !== at)
  if (twice !== undefined) throw new StoreRefusal('keys: two of them have the same kid')
  await commitJournaledWork(
    db,
    (transaction) => replaceAuthority(transaction, authority),
    (former) => former && findStricterAuthorityAct(former, authority),
  )
}

/** Replaces the settings and keys of an authority. @returns the former settings; null: it was new or removed */
async function replaceAuthority(
  transaction: Transaction<unknown>,
  { name, jwks_uri, outgoing, keys }: Omit<ConsentAuthority, 'id'>,
): Promise<OldAuthoritySettings | null> {
  const { rows: before } = await sql<OldAuthoritySettings>`select jwks_uri, outgoing,
      array(select thumbprint from consent_authority_key where authority = consent_authority.id) as thumbprints
    from consent_authority where name = ${name} and removed_at is null for update`.execute(transaction)
  const { rows } = await sql<{ id: number }>`
    insert into consent_authority (name, jwks_uri, outgoing) values (${name}, ${jwks_uri}, ${JSON.stringify(outgoing)})
    on conflict (name) do update set jwks_uri = excluded.jwks_uri, outgoing = excluded.outgoing, removed_at = null
    returning id`.execute(transaction)
  const id = rows[0]?.id
  await sql`delete from consent_authority_key where authority = ${id}`.execute(transaction)
  for (const { kid, algorithm, public_jwk, thumbprint } of keys) {
    await sql`insert into consent_authority_key (authority, kid, algorithm, public_jwk, thumbprint)
      values (${id}, ${kid}, ${algorithm}, ${JSON.stringify(public_jwk)}, ${thumbprint})`.execute(transaction)
  }
  return before[0] ?? null
}

interface OldAuthoritySettings extends Pick<ConsentAuthority, 'jwks_uri' | 'outgoing'> {
  /** The thumbprints of the keys that were registered for the authority before the change. */
  readonly thumbprints: readonly string[]
}

type StricterAuthorityAct = Extract<JournalAct, { readonly kind: 'authority_tightened' }>

/**
 * The part of a change that a restore must not undo: removed keys and hosts, and a jwks_uri that was changed or removed; null
 * when the change has none of these.
 */
function findStricterAuthorityAct(from: OldAuthoritySettings, { name, jwks_uri, outgoing, keys }: Omit<ConsentAuthority, 'id'>) {
  const thumbprints = from.thumbprints.filter((one) => keys.every(({ thumbprint }) => thumbprint !== one))
  const hosts = hostsNotIn(from.outgoing, outgoing)
  const isMoved = from.jwks_uri !== null && from.jwks_uri !== jwks_uri
  if (thumbprints.length === 0 && hosts.length === 0 && !isMoved) return null
  const act: StricterAuthorityAct = {
    kind: 'authority_tightened',
    authority: name,
    thumbprints,
    hosts,
    ...(isMoved && { jwks_uri }),
  }
  return act
}

/**
 * Makes an authority stricter again after a restore: removes the keys and hosts that the act of the journal names, and
 * sets jwks_uri if the act has one. Does nothing when the authority does not exist.
 */
export async function repeatStricterAuthorityAct(
  { pool }: Pick<Database, 'pool'>,
  { authority, thumbprints, hosts, jwks_uri }: StricterAuthorityAct,
): Promise<void> {
  await withTransaction(pool, async (client) => {
    const { rows } = await client.query<Pick<ConsentAuthority, 'id' | 'outgoing'>>(
      'select id, outgoing from consent_authority where name = $1 for update',
      [authority],
    )
    const [found] = rows
    if (found === undefined) return
    await client.query('update consent_authority set outgoing = $2 where id = $1', [
      found.id,
      JSON.stringify(hostsNotIn(found.outgoing, hosts)),
    ])
    if (jwks_uri !== undefined) {
      await client.query('update consent_authority set jwks_uri = $2 where id = $1', [found.id, jwks_uri])
    }
    await client.query('delete from consent_authority_key where authority = $1 and thumbprint = any($2::text[])', [
      found.id,
      thumbprints,
    ])
  })
}

interface AuthorityKeyRow {
  readonly kid: string
  readonly algorithm: string
  readonly public_jwk: Jwk
  readonly thumbprint: string
}

type AuthorityRow = Omit<ConsentAuthority, 'keys'> & { readonly keys: readonly AuthorityKeyRow[] }

const SELECT_AUTHORITIES = `select id, name, jwks_uri, outgoing,
    (select coalesce(json_agg(json_build_object('kid', kid, 'algorithm', algorithm, 'public_jwk', public_jwk,
      'thumbprint', thumbprint) order by created_at, kid), '[]')
      from consent_authority_key where authority = consent_authority.id) as keys
  from consent_authority where removed_at is null`

const authorityFromRow = ({ keys, ...row }: AuthorityRow): ConsentAuthority => ({
  ...row,
  keys: keys.map((key) => ({ ...key, use: 'sig' })),
})

/** Lists the authorities that were not removed, by name. */
export async function listAuthorities({ pool }: Pick<Database, 'pool'>): Promise<readonly ConsentAuthority[]> {
  const { rows } = await pool.query<AuthorityRow>(`${SELECT_AUTHORITIES} order by name`)
  return rows.map(authorityFromRow)
}

/** Finds the authority with this name; null when there is none, or it was removed. */
export async function findAuthority({ pool }: Pick<Database, 'pool'>, name: string): Promise<ConsentAuthority | null> {
  if (!isTextStorable(name)) return null
  const { rows } = await pool.query<AuthorityRow>({
    name: 'find consent authority',
    text: `${SELECT_AUTHORITIES} and name = $1`,
    values: [name],
  })
  return rows[0] === undefined ? null : authorityFromRow(rows[0])
}

/** True when the authority with this id has this name. A removed authority counts too. */
export async function isAuthorityNamed({ pool }: Pick<Database, 'pool'>, id: number, name: unknown): Promise<boolean> {
  if (typeof name !== 'string' || !isTextStorable(name)) return false
  const { rowCount } = await pool.query('select from consent_authority where id = $1 and name = $2', [id, name])
  return rowCount === 1
}

/** The names of all authorities by id, also of removed ones. */
export async function readAuthorityNames({ pool }: Pick<Database, 'pool'>): Promise<ReadonlyMap<number, string>> {
  const { rows } = await pool.query<{ id: number; name: string }>('select id, name from consent_authority')
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/**
 * The id of an authority, also of a removed one. An unknown name is inserted as an authority that is removed already, so that it
 * has an id and its consents are not accepted.
 */
export async function ensureAuthorityId(client: Pick<ClientBase, 'query'>, name: string): Promise<number> {
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

/** Removes an authority: its consents are no longer accepted. @returns its id; null: there is none of this name */
export async function removeAuthority(client: Pick<ClientBase, 'query'>, name: string): Promise<number | null> {
  const { rows } = await client.query<{ id: number }>(
    'update consent_authority set removed_at = now() where name = $1 and removed_at is null returning id',
    [name],
  )
  return rows[0]?.id ?? null
}
