import type { Migration } from 'kysely/migration'

/**
 * The phases of migrations say how they may change tables that the previous version uses.
 * - `expand`: it adds what nodes of the previous version need not know.
 * - `contract`: it removes what they no longer use (`unused.ts`).
 */
export type MigrationPhase = 'expand' | 'contract'

/** A migration without a version was made before the first release, and belongs to it. */
export interface SchemaMigration extends Migration {
  /** The release that brings it. */
  readonly version?: string
  readonly phase?: MigrationPhase
}
