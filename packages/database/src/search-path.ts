/**
 * Where tables are looked up. The application role could set itself another path, with its own tables before ours; the
 * options of a connection override those of a role or database. `pg_catalog` comes first because it is not named, and
 * `pg_temp` last because it is named.
 */
import type pg from 'pg'

const SEARCH_PATH = '-c search_path=public,pg_temp'

/** Puts our path before the operator's options, which may name another schema: PostgreSQL uses the last one. */
export function withSearchPath(connection: pg.PoolConfig): pg.PoolConfig {
  const { connectionString } = connection
  if (connectionString !== undefined && OPTIONS.test(connectionString)) {
    // A connection string overrides the settings beside it.
    const pinned = connectionString.replace(OPTIONS, `$&${SEARCH_PATH.replaceAll(' ', '+')}+`)
    return { ...connection, connectionString: pinned }
  }
  const own = connection.options ?? process.env.PGOPTIONS ?? ''
  return { ...connection, options: `${SEARCH_PATH} ${own}`.trimEnd() }
}

const OPTIONS = /[?&]options=/
