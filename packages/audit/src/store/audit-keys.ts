import type { Database } from '@rollcall/database/database'

/** The table with the encrypted audit keys, its primary key, and the purpose of the encryption. */
export const SEALED_AUDIT_KEY_TABLE = { table: 'account_key', id: 'kid', purpose: 'account key' } as const

export interface AuditKey {
  readonly kid: string
  readonly kind: 'signature' | 'pseudonym' | 'confidential'
  /** The public JWK of a signature key; null for keys of the other kinds. */
  readonly public_key: { readonly x: string } | null
  /** The private JWK or the secret, encrypted with the master key; null once erased. */
  readonly sealed: Buffer | null
  readonly created_at: Date
  readonly retired_at: Date | null
  /** `created_at` in UTC with microseconds, as checkpoints have it; null when the time cannot be written so. */
  readonly created: string | null
}
export type AuditKeyKind = AuditKey['kind']

export interface NewAuditKey {
  readonly kid: string
  readonly kind: AuditKeyKind
  readonly public_key: object | null
  readonly sealed: Buffer
}

/** Lists all stored keys, the oldest first. */
export async function listAuditKeys(db: Database): Promise<readonly AuditKey[]> {
  const { rows } = await db.pool.query<AuditKey>(
    `select kid, kind, public_key, sealed, created_at, retired_at,
      to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created
      from account_key order by created_at, kid`,
  )
  return rows
}

/** Adds a key, unless there is an active key of the same kind. */
export async function addAuditKey(db: Database, key: NewAuditKey): Promise<void> {
  const { kid, kind, public_key, sealed } = key
  await db.pool.query(
    `insert into account_key (kid, kind, public_key, sealed) values ($1, $2, $3, $4)
      on conflict (kind) where retired_at is null do nothing`,
    [kid, kind, public_key === null ? null : JSON.stringify(public_key), sealed],
  )
}

/** True when the audit log ever had an entry. Checkpoints show it after pruning: they are never deleted. */
export async function hasAuditLogHadEntries({ pool }: Pick<Database, 'pool'>): Promise<boolean> {
  const { rows } = await pool.query<{ has: boolean }>(
    'select exists (select from account) or exists (select from account_checkpoint) as has',
  )
  return rows[0]?.has === true
}
