/**
 * The floor's own database beside ours, in the same PostgreSQL and with the same records: in one database the workers
 * of both would wake each other.
 */
import { type Database, migrate, openDatabase } from '@rollcall/database/database'
import { findRegistry } from '@rollcall/records/registries/registries'
import { NAMESPACE } from '../search/question.ts'
import { filledRegistry } from '../search/registry.ts'

const NAME = 'rollcall_bench_floor'

/** Opens it; it is made and filled by `makeFloorDatabase`. */
export function openFloorDatabase({ connection }: Pick<Database, 'connection'>): Database {
  const { connectionString, ...settings } = connection
  if (connectionString === undefined) return openDatabase({ ...settings, database: NAME })
  const url = new URL(connectionString)
  url.pathname = `/${NAME}`
  return openDatabase({ ...settings, connectionString: url.href })
}

/** Makes it where it is missing, with at least this many records. The owner alone may create databases. */
export async function makeFloorDatabase(beside: Database, besideOwner: Database, records: number): Promise<void> {
  const { rowCount } = await beside.pool.query('select from pg_database where datname = $1', [NAME])
  if (rowCount === 0) await besideOwner.pool.query(`create database ${NAME} encoding 'UTF8' template template0`)
  const db = openFloorDatabase(beside)
  const owner = openFloorDatabase(besideOwner)
  try {
    await migrate(owner, db)
    // The worker of the floor makes its own schema.
    await owner.pool.query(`grant create on database ${NAME} to ${await roleOf(db)}`)
    await filledRegistry(db, records)
    await db.pool.query(
      'create table if not exists bench_request (id uuid primary key, message_id text not null, transaction_id text not null)',
    )
  } finally {
    await Promise.all([db.close(), owner.close()])
  }
}

async function roleOf(db: Database): Promise<string> {
  const { rows } = await db.pool.query<{ role: string }>('select quote_ident(current_user) as role')
  return rows[0]?.role ?? ''
}

/** The registry in it. */
export async function floorRegistry(db: Database) {
  const registry = await findRegistry(db, NAMESPACE)
  if (registry === null) throw new Error(`there is no registry ${NAMESPACE}`)
  return registry
}
