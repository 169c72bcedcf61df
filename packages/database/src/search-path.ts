/**
 * The schemas in which PostgreSQL looks up tables. The application role could set another schema, with tables of its own, for a
 * role or for the database. The options that we give with a connection override such settings. `pg_catalog` is not named, so it
 * comes first; `pg_temp` is named, so it comes last.
 */
import type pg from 'pg'

const SEARCH_PATH = '-c search_path=public,pg_temp'

/**
 * Puts our search path before the operator's options. In these options an operator may name another schema, because
 * PostgreSQL uses the last search path.
 */
export function withSearchPath(connection: pg.PoolConfig): pg.PoolConfig {
  const { connectionString } = connection
  if (connectionString !== undefined && OPTIONS_PARAMETER_PATTERN.test(connectionString)) {
    // Options in a connection string override `connection.options` and PGOPTIONS.
    const pinned = connectionString.replace(OPTIONS_PARAMETER_PATTERN, `$&${SEARCH_PATH.replaceAll(' ', '+')}+`)
    return { ...connection, connectionString: pinned }
  }
  const own = connection.options ?? process.env.PGOPTIONS ?? ''
  return { ...connection, options: `${SEARCH_PATH} ${own}`.trimEnd() }
}

const OPTIONS_PARAMETER_PATTERN = /[?&]options=/
