/** The Ed25519 keys that sign access tokens: in the database, so that every node signs and verifies alike. */
import type { JWK } from 'jose'
import { sql } from 'kysely'
import type { Database } from './database.ts'

export interface TokenKey {
  readonly kid: string
  readonly public_jwk: JWK
  readonly private_jwk: JWK
  readonly created_at: Date
}

/** Newest first: the first signs, all of them verify. */
export async function listTokenKeys(db: Database): Promise<readonly TokenKey[]> {
  return db.kysely.selectFrom('token_key').selectAll().orderBy('created_at', 'desc').orderBy('kid').execute()
}

/** Adds the key if there is none yet; when several nodes try at once, one key is added. */
export async function addFirstTokenKey(
  db: Database,
  key: Pick<TokenKey, 'kid' | 'private_jwk'>,
): Promise<void> {
  // The only private member of an Ed25519 key is d (RFC 8037).
  const { d: _private, ...public_jwk } = key.private_jwk
  await db.kysely.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('rollcall token key', 0))`.execute(transaction)
    const any = await transaction.selectFrom('token_key').select('kid').limit(1).executeTakeFirst()
    if (any) return
    await transaction
      .insertInto('token_key')
      .values({
        kid: key.kid,
        public_jwk: JSON.stringify(public_jwk),
        private_jwk: JSON.stringify(key.private_jwk),
      })
      .execute()
  })
}
