import type { Migration } from 'kysely/migration'

/**
 * The phase of a migration says how it may change tables that the previous version uses. - `expand`: it adds what nodes of the
 * previous version need not know. - `contract`: it removes what nodes of the previous version no longer use (`unused.ts`).
 */
export type MigrationPhase = 'expand' | 'contract'

/** A migration. A migration without a version was made before the first release, and belongs to that release. */
export interface SchemaMigration extends Migration {
  /** The release that contains the migration. */
  readonly version?: string
  readonly phase?: MigrationPhase
}
