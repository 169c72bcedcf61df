/** Our own keys: the private half encrypted, in the database so that every node signs, verifies and decrypts alike. */
import { type Selectable, sql, type Transaction } from 'kysely'
import type { Database } from '../db/database.ts'
import type { OwnKeyRow, Tables } from '../db/tables.ts'
import { lockKeys } from './master-keys.ts'

/** State `next` is published and does not sign yet, `retired` no longer does, `revoked` is refused at once. */
export type OwnKey = Readonly<Selectable<OwnKeyRow>>

export type NewOwnKey = Pick<OwnKey, 'kid' | 'use' | 'algorithm'> & { readonly sealed: Buffer }

const COLUMNS = [
  ...(['kid', 'use', 'algorithm', 'state', 'sealed'] as const),
  ...(['created_at', 'activated_at', 'retired_at', 'expires_at', 'revoked_at'] as const),
]

/** Every key there ever was, newest first. */
export async function listOwnKeys(db: Database): Promise<readonly OwnKey[]> {
  return db.kysely
    .selectFrom('own_key')
    .select(COLUMNS)
    .orderBy('created_at', 'desc')
    .orderBy('kid')
    .execute()
}

/** Those that are good for something: active, next, and retired within their time; in that order, newest first. */
export async function listLiveOwnKeys(db: Database): Promise<readonly OwnKey[]> {
  const { rows } = await db.pool.query<OwnKey>({
    name: 'list live own keys',
    text: `select ${COLUMNS.join(', ')} from own_key
      where sealed is not null and (state in ('active', 'next') or (state = 'retired' and expires_at > now()))
      order by array_position(array['active', 'next', 'retired'], state), created_at desc, kid`,
  })
  return rows
}

/** Erases retired keys whose time is over. */
export async function eraseExpired(db: Database): Promise<void> {
  await db.kysely
    .updateTable('own_key')
    .set({ sealed: null })
    .where('state', '=', 'retired')
    .where('expires_at', '<=', sql<Date>`now()`)
    .where('sealed', 'is not', null)
    .execute()
}

/** The keys within a transaction that no other change of keys runs beside. */
export interface OwnKeyChange {
  list(): Promise<readonly OwnKey[]>
  add(key: NewOwnKey, state: 'next' | 'active'): Promise<void>
  activate(kid: string): Promise<void>
  /**
   * @param overlap seconds in which it is still valid
   * @param sealed the encrypted rest of it
   */
  retire(kid: string, overlap: number, sealed: Buffer): Promise<void>
  /** Erases it as well. */
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

const now = sql<Date>`now()`

function changeIn(transaction: Transaction<Tables>): OwnKeyChange {
  const update = (kid: string) => transaction.updateTable('own_key').where('kid', '=', kid)
  return {
    list: () => transaction.selectFrom('own_key').select(COLUMNS).orderBy('created_at', 'desc').execute(),
    async add(key, state) {
      await transaction
        .insertInto('own_key')
        .values({
          ...key,
          state,
          activated_at: state === 'active' ? now : null,
        })
        .execute()
    },
    async activate(kid) {
      await update(kid).set({ state: 'active', activated_at: now }).execute()
    },
    async retire(kid, overlap, sealed) {
      await update(kid)
        .set({
          state: 'retired',
          retired_at: now,
          expires_at: sql<Date>`now() + make_interval(secs => ${overlap})`,
          sealed,
        })
        .execute()
    },
    async revoke(kid) {
      await update(kid).set({ state: 'revoked', revoked_at: now, sealed: null }).execute()
    },
  }
}
