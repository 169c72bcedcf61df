/** The database connection of an import: it has the claim of the registry, or the temporary tables of a dry run. */
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { releaseImportClaim, tryClaimImport } from '@rollcall/records/records/claims'
import { findRegistry } from '@rollcall/records/registries/registries'
import type { ClientBase } from 'pg'
import { createNotedLineTable } from './noted-lines.ts'
import { ImportError } from './source.ts'

/** Claims the registry for this import, runs the work, releases the claim. @throws ImportError another import has it */
export async function withClaimedRegistry<Result>(
  db: Database,
  registry: Registry,
  work: (client: ClientBase, current: Registry) => Promise<Result>,
): Promise<Result> {
  const client = await db.pool.connect()
  try {
    if (!(await tryClaimImport(client, registry.id))) {
      throw new ImportError(`another import into ${registry.namespace} is running; try again when it has ended`)
    }
    // The registry is read again: its attributes may have changed before the claim. Now they cannot change.
    return await work(client, (await findRegistry(db, registry.namespace)) ?? registry)
  } finally {
    // The claim is released, so that the next import may begin at once. If the release fails, the claim ends when PostgreSQL
    // notices that the connection is closed.
    await releaseImportClaim(client, registry.id).catch(() => undefined)
    client.release(true)
  }
}

/** Runs the work on a connection with the temporary table of a dry run, and then closes the connection. */
export async function withDryRun<Result>(db: Database, work: (client: ClientBase) => Promise<Result>): Promise<Result> {
  const client = await db.pool.connect()
  try {
    await createNotedLineTable(client)
    return await work(client)
  } finally {
    client.release(true)
  }
}
