/** Opens a source by the functions of its engine. */

import type { EnvironmentVariables } from './engine/address.ts'
import type { OpenEngine } from './engine/engine.ts'
import type { EngineName } from './engine/engine-names.ts'
import type { SourceFile } from './engine/mapped-records.ts'
import { openMariadb } from './mariadb/open-mariadb.ts'
import { openPostgresql } from './postgresql/open-postgresql.ts'

const ENGINE_OPENERS: Readonly<Record<EngineName, (file: SourceFile, env: EnvironmentVariables) => OpenEngine>> = {
  postgresql: openPostgresql,
  mariadb: openMariadb,
  mysql: openMariadb,
}

/**
 * Opens the engine of a source file, which connects when it is first asked.
 * @throws SourceRefusal the address or the certificates of the database cannot be read or used
 */
export const openEngine = (file: SourceFile, env: EnvironmentVariables): OpenEngine => ENGINE_OPENERS[file.engine](file, env)
