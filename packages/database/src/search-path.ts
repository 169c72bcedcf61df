/**
 * Where names of tables are looked for. The application role could set another path for itself, in which tables of its
 * own stand before ours; what a connection says at its start counts more than what a role or a database has set.
 * `pg_catalog` comes first because it is not named, and `pg_temp` last because it is.
 */
import type pg from 'pg'

const SEARCH_PATH = '-c search_path=public,pg_temp'

/** The settings with our path before the operator's own options, which may name another schema: the last one counts. */
export function withSearchPath(connection: pg.PoolConfig): pg.PoolConfig {
  const { connectionString } = connection
  if (connectionString !== undefined && OPTIONS.test(connectionString)) {
    // What an address says counts more than the settings beside it.
    const pinned = connectionString.replace(OPTIONS, `$&${SEARCH_PATH.replaceAll(' ', '+')}+`)
    return { ...connection, connectionString: pinned }
  }
  const own = connection.options ?? process.env.PGOPTIONS ?? ''
  return { ...connection, options: `${SEARCH_PATH} ${own}`.trimEnd() }
}

const OPTIONS = /[?&]options=/
