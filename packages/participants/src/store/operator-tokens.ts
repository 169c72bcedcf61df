/** Tokens of operators for the admin API. Only the SHA-256 of each secret is stored. */
import type { Operator, OperatorRole } from '@rollcall/core/model/operator'
import type { Database } from '@rollcall/database/database'
import { isUniqueViolation } from '@rollcall/database/database-errors'
import { StoreRefusal } from '@rollcall/database/refusal'
import { isTextStorable } from '@rollcall/database/text'
import { REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'

/** A token as operators see it in the list. */
export interface OperatorToken {
  readonly id: number
  readonly name: string
  readonly roles: readonly OperatorRole[]
  /** The namespaces of the registries for which the token is valid; null: all registries. */
  readonly registries: readonly string[] | null
  /** The `ConsentAuthority.id` of the only authority whose consents the token may withdraw; null: no such limit. */
  readonly authority: number | null
  readonly created_at: Date
  readonly expires_at: Date
  readonly revoked_at: Date | null
}

const MOST_TOKEN_NAME_CHARACTERS = 64

/**
 * Adds a token by the SHA-256 of its secret.
 * @param token.registries `Registry.id`s; null: all
 * @returns its id
 * @throws StoreRefusal the name has the wrong form, or belongs to another token that is not revoked
 */
export async function addOperatorToken(
  { pool }: Pick<Database, 'pool'>,
  token: Pick<Operator, 'name' | 'roles' | 'registries' | 'authority'> & { readonly sha256: Buffer; readonly expires_at: Date },
): Promise<number> {
  const { name, sha256, roles, registries, authority, expires_at } = token
  if (name.trim() === '' || name.length > MOST_TOKEN_NAME_CHARACTERS || !isTextStorable(name)) {
    throw new StoreRefusal(`name: must have 1 to ${MOST_TOKEN_NAME_CHARACTERS} characters`)
  }
  try {
    const { rows } = await pool.query<{ id: number }>(
      `insert into operator_token (name, sha256, authority, expires_at, roles, registries)
        values ($1, $2, $3, $4, $5, $6) returning id`,
      [name, sha256, authority, expires_at, [...new Set(roles)], registries && [...new Set(registries)]],
    )
    if (rows[0] === undefined) throw new Error('unreachable: a token was inserted')
    return rows[0].id
  } catch (error) {
    if (isUniqueViolation(error, 'operator_token_name_index')) {
      throw new StoreRefusal(`a token named ${name} exists already; revoke it first`)
    }
    throw error
  }
}

/** Lists all tokens, sorted by name; of tokens with the same name, the newest first. */
export async function listOperatorTokens({ pool }: Pick<Database, 'pool'>): Promise<readonly OperatorToken[]> {
  const { rows } = await pool.query<OperatorToken>(
    `select id, name, roles, authority, created_at, expires_at, revoked_at,
        case when registries is not null then array(
          select namespace from ${REGISTRIES_SQL} as registry where id = any(registries) order by namespace) end as registries
      from operator_token order by name, id desc`,
  )
  return rows
}

/** Revokes the token with this name. @returns false when no token with the name is left to revoke */
export async function revokeOperatorToken({ pool }: Pick<Database, 'pool'>, name: string): Promise<boolean> {
  const { rowCount } = await pool.query('update operator_token set revoked_at = now() where name = $1 and revoked_at is null', [
    name,
  ])
  return rowCount !== 0
}

/** Finds a token that is not revoked by its id; null when there is none. The token may have expired. */
export async function findOperatorToken(
  { pool }: Pick<Database, 'pool'>,
  id: number,
): Promise<(Operator & { readonly sha256: Buffer; readonly expires_at: Date }) | null> {
  const { rows } = await pool.query<Operator & { sha256: Buffer; expires_at: Date }>({
    name: 'find operator token',
    text: `select id, name, roles, registries, authority, sha256, expires_at
      from operator_token where id = $1 and revoked_at is null`,
    values: [id],
  })
  return rows[0] ?? null
}

/** Deletes tokens that were revoked or have expired more than this many days ago. @returns how many */
export async function forgetEndedOperatorTokens({ pool }: Pick<Database, 'pool'>, days: number, now: Date): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from operator_token
      where least(revoked_at, expires_at) < $2::timestamptz - make_interval(days => $1)`,
    [days, now],
  )
  return rowCount ?? 0
}
