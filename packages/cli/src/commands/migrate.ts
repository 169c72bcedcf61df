/** `rollcall migrate`: the step of a deployment that prepares the database. */
import { ensureRecordTables, listRegistries, migrate, openStorage } from '@rollcall/server'
import type { Command } from 'commander'
import { configuration } from '../environment.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'

export function addCommand(program: Command): void {
  withJson(program.command('migrate'))
    .description(
      'bring the tables of the database to this version; every command that uses them does this too',
    )
    .addHelpText(
      'after',
      `
Example: DATABASE_URL=postgres://rollcall@db.example.org/rollcall rollcall migrate`,
    )
    .action(runMigrate)
}

async function runMigrate(options: OutputOptions): Promise<void> {
  stopRequest()
  const storage = await openStorage(configuration())
  try {
    const migrations = await migrate(storage.db)
    const registries = await listRegistries(storage.db)
    for (const registry of registries) await ensureRecordTables(storage.db, registry)
    const ran = migrations.length > 0 ? `ran ${migrations.join(', ')}` : 'nothing to do'
    print(options, { migrations, registries: registries.length }, `${ran}; ${registries.length} registries`)
  } finally {
    await storage.close()
  }
}
