/** A migration with the release that it belongs to. */
import type { Migration } from 'kysely/migration'

/**
 * What a migration may do to tables that the version before it uses.
 * - `expand`: it adds what nodes of the version before it do not need to know.
 * - `contract`: it removes what they do not use any more (`retired.ts`).
 */
export type MigrationPhase = 'expand' | 'contract'

/** One that has no version was made before the first release, and belongs to that. */
export interface SchemaMigration extends Migration {
  /** Of the release that brings it. */
  readonly version?: string
  readonly phase?: MigrationPhase
}
