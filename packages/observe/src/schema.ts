/** Compares the schema version of the database with this node's: a newer Rollcall may have migrated the database. */
import { safeDatabaseError } from '@rollcall/database/database-errors'
import { MOST_VERSIONS_AHEAD, programSchemaVersion, type SchemaLead, schemaLead } from '@rollcall/database/schema-version'
import type { Log } from './log.ts'

export interface SchemaVersionWatch {
  /**
   * Reads the version from the database. When it is newer, the log says so once for each version. Never rejects: after
   * an error, the earlier result stays.
   */
  check(): Promise<SchemaLead>
  /** The result of the last successful check; `ahead` is 0 before the first check. */
  lead(): SchemaLead
  /** True when this node can work with the database's tables. */
  isUsable(): boolean
  /** Resolves when `isUsable` becomes false: the database is more than one version ahead, and this node must stop. */
  readonly outdated: Promise<SchemaLead>
}

/** Makes a watch of the schema version. @param deps.read reads the recorded versions, the newest last */
export function createSchemaVersionWatch(deps: {
  readonly log: Pick<Log, 'warn' | 'error'>
  readonly read: () => Promise<readonly string[]>
}): SchemaVersionWatch {
  const program = programSchemaVersion()
  const outdated = Promise.withResolvers<SchemaLead>()
  let found: SchemaLead = { version: program, ahead: 0 }
  const isUsable = (): boolean => found.ahead <= MOST_VERSIONS_AHEAD
  const note = (lead: SchemaLead): void => {
    const isNew = lead.version !== found.version
    found = lead
    if (lead.ahead === 0 || !isNew) return
    const versions = { schema_version: program, database_schema_version: lead.version }
    if (isUsable()) deps.log.warn(versions, 'the database is one version ahead of this node: upgrade it soon')
    else {
      deps.log.error(versions, 'the database is more than one version ahead of this node: it stops')
      outdated.resolve(lead)
    }
  }
  return {
    async check() {
      try {
        note(schemaLead(await deps.read(), program))
      } catch (error) {
        deps.log.warn({ database: safeDatabaseError(error) }, 'the version of the schema could not be read')
      }
      return found
    },
    lead: () => found,
    isUsable,
    outdated: outdated.promise,
  }
}
