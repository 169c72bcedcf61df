/** Stores our own keys in the database, so that all nodes use the same ones. The private half is encrypted. */

import type { Database } from '@rollcall/database/database'
import { sql, type Transaction } from 'kysely'
import { lockKeyChanges } from './master-keys.ts'

/**
 * One of our own keys. A `next` key will follow the `active` key, and peers may know it already. A `retired` key signs
 * no more, but still verifies or decrypts until it expires. A `revoked` key is refused at once.
 */
export interface OwnKey {
  readonly kid: string
  readonly use: string
  readonly algorithm: string
  readonly state: 'next' | 'active' | 'retired' | 'revoked'
  /** The encrypted JWK: private, or only public for a key that no longer signs; null after it was erased. */
  readonly sealed: Buffer | null
  readonly created_at: Date
  readonly activated_at: Date | null
  readonly retired_at: Date | null
  /** The time from which a retired key is no longer valid. */
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
}

export type NewOwnKey = Pick<OwnKey, 'kid' | 'use' | 'algorithm'> & { readonly sealed: Buffer }

const OWN_KEY_COLUMNS = 'kid, use, algorithm, state, sealed, created_at, activated_at, retired_at, expires_at, revoked_at'
const LIST_OWN_KEYS = `select ${OWN_KEY_COLUMNS} from own_key order by created_at desc, kid`

/** All stored keys, also retired and revoked ones, the newest first. */
export async function listOwnKeys(db: Database): Promise<readonly OwnKey[]> {
  return (await db.pool.query<OwnKey>(LIST_OWN_KEYS)).rows
}

/** The valid keys: active, then next, then retired within their time; of each state the newest first. */
export async function listValidOwnKeys(db: Database): Promise<readonly OwnKey[]> {
  const { rows } = await db.pool.query<OwnKey>({
    name: 'list live own keys',
    text: `select ${OWN_KEY_COLUMNS} from own_key
      where sealed is not null and (state in ('active', 'next') or (state = 'retired' and expires_at > now()))
      order by array_position(array['active', 'next', 'retired'], state), created_at desc, kid`,
  })
  return rows
}

/**
 * SQL for the time at which our oldest valid encryption key was made: since then peers may encrypt messages with a valid key. It
 * is `infinity` when no key is valid.
 */
export const ENCRYPTION_KEYS_SINCE_SQL = `(select coalesce(min(created_at), 'infinity') from own_key
  where use = 'enc' and (state in ('active', 'next') or (state = 'retired' and expires_at > now())))`

/** Erases the encrypted JWKs of retired keys that are no longer valid. Their rows stay. */
export async function eraseExpiredOwnKeys(db: Database): Promise<void> {
  await db.pool.query(`update own_key set sealed = null where state = 'retired' and expires_at <= now() and sealed is not null`)
}

/** Changes of keys in a transaction. No other transaction changes keys at the same time. */
export interface OwnKeyTransaction {
  list(): Promise<readonly OwnKey[]>
  add(key: NewOwnKey, state: 'next' | 'active'): Promise<void>
  activate(kid: string): Promise<void>
  /**
   * Retires a key.
   * @param overlap seconds for which the key stays valid
   * @param sealed the encrypted JWK that is kept
   */
  retire(kid: string, overlap: number, sealed: Buffer): Promise<void>
  /** Revokes a key and erases its JWK. */
  revoke(kid: string): Promise<void>
}

/** Changes keys in one transaction. A second such change waits until the first has ended. */
export async function changeOwnKeys<Result>(db: Database, work: (change: OwnKeyTransaction) => Promise<Result>): Promise<Result> {
  return db.kysely.transaction().execute(async (transaction) => {
    await lockKeyChanges(transaction)
    return work(createOwnKeyTransaction(transaction))
  })
}

function createOwnKeyTransaction(transaction: Transaction<unknown>): OwnKeyTransaction {
  return {
    list: async () => (await sql<OwnKey>`${sql.raw(LIST_OWN_KEYS)}`.execute(transaction)).rows,
    async add({ kid, use, algorithm, sealed }, state) {
      await sql`insert into own_key (kid, use, algorithm, sealed, state, activated_at)
        values (${kid}, ${use}, ${algorithm}, ${sealed}, ${state}, case when ${state} = 'active' then now() end)`.execute(
        transaction,
      )
    },
    async activate(kid) {
      await sql`update own_key set state = 'active', activated_at = now() where kid = ${kid}`.execute(transaction)
    },
    async retire(kid, overlap, sealed) {
      await sql`update own_key set state = 'retired', retired_at = now(), sealed = ${sealed},
        expires_at = now() + make_interval(secs => ${overlap}) where kid = ${kid}`.execute(transaction)
    },
    async revoke(kid) {
      await sql`update own_key set state = 'revoked', revoked_at = now(), sealed = null where kid = ${kid}`.execute(transaction)
    },
  }
}
