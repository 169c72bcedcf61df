/** Our own keys, in the database so that all nodes use the same ones. The private half is encrypted. */

import type { Database } from '@rollcall/database/database'
import { sql, type Transaction } from 'kysely'
import { lockKeys } from './master-keys.ts'

/** State `next` is published and does not sign yet, `retired` no longer does, `revoked` is refused at once. */
export interface OwnKey {
  readonly kid: string
  readonly use: string
  readonly algorithm: string
  readonly state: 'next' | 'active' | 'retired' | 'revoked'
  /** The encrypted JWK: private, or public only for a key that no longer signs; null after it was erased. */
  readonly sealed: Buffer | null
  readonly created_at: Date
  readonly activated_at: Date | null
  readonly retired_at: Date | null
  /** When a retired key stops being one of ours. */
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
}

export type NewOwnKey = Pick<OwnKey, 'kid' | 'use' | 'algorithm'> & { readonly sealed: Buffer }

const COLUMNS = 'kid, use, algorithm, state, sealed, created_at, activated_at, retired_at, expires_at, revoked_at'
const ALL = `select ${COLUMNS} from own_key order by created_at desc, kid`

/** Every key there ever was, newest first. */
export async function listOwnKeys(db: Database): Promise<readonly OwnKey[]> {
  return (await db.pool.query<OwnKey>(ALL)).rows
}

/** The keys in use: active, next, and retired within their time; in this order, newest first. */
export async function listLiveOwnKeys(db: Database): Promise<readonly OwnKey[]> {
  const { rows } = await db.pool.query<OwnKey>({
    name: 'list live own keys',
    text: `select ${COLUMNS} from own_key
      where sealed is not null and (state in ('active', 'next') or (state = 'retired' and expires_at > now()))
      order by array_position(array['active', 'next', 'retired'], state), created_at desc, kid`,
  })
  return rows
}

/** Erases retired keys whose time is over. */
export async function eraseExpired(db: Database): Promise<void> {
  await db.pool.query(
    `update own_key set sealed = null where state = 'retired' and expires_at <= now() and sealed is not null`,
  )
}

/** The keys within a transaction that no other change of keys runs beside. */
export interface OwnKeyChange {
  list(): Promise<readonly OwnKey[]>
  add(key: NewOwnKey, state: 'next' | 'active'): Promise<void>
  activate(kid: string): Promise<void>
  /**
   * @param overlap the seconds for which it is still valid
   * @param sealed the encrypted JWK that is left
   */
  retire(kid: string, overlap: number, sealed: Buffer): Promise<void>
  /** Revokes the key and erases it. */
  revoke(kid: string): Promise<void>
}

/** Changes keys: all of the work or nothing. */
export async function changeOwnKeys<Result>(
  db: Database,
  work: (change: OwnKeyChange) => Promise<Result>,
): Promise<Result> {
  return db.kysely.transaction().execute(async (transaction) => {
    await lockKeys(transaction)
    return work(changeIn(transaction))
  })
}

function changeIn(transaction: Transaction<unknown>): OwnKeyChange {
  return {
    list: async () => (await sql<OwnKey>`${sql.raw(ALL)}`.execute(transaction)).rows,
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
      await sql`update own_key set state = 'revoked', revoked_at = now(), sealed = null where kid = ${kid}`.execute(
        transaction,
      )
    },
  }
}
