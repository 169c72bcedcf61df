/** `rollcall migrate`: creates the tables of the database, or upgrades them to this version. */

import { migrateDatabase } from '@rollcall/admin/database'
import { openStorage } from '@rollcall/settings/storage'
import type { Command } from 'commander'
import { readConfiguration } from '../environment.ts'
import { countWithNoun, type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'

export function addCommand(program: Command): void {
  withJsonOption(program.command('migrate'))
    .description('create the tables of the database, or upgrade them to this version; only migrate, serve and demo do this')
    .addHelpText(
      'after',
      `
Example: DATABASE_URL=postgres://rollcall@db.example.org/rollcall rollcall migrate`,
    )
    .action(runMigrate)
}

async function runMigrate(options: OutputOptions): Promise<void> {
  listenForStop()
  const storage = await openStorage(readConfiguration())
  try {
    const done = await migrateDatabase(storage, {})
    const { migrations, registries, to_fill } = done
    const ran = migrations.length > 0 ? `ran ${migrations.join(', ')}` : 'nothing to do'
    printResult(
      options,
      done,
      [`${ran}; ${countWithNoun(registries, 'registry', 'registries')}`, ...to_fill.map(backfillAdvice)].join('\n'),
    )
  } finally {
    await storage.close()
  }
}

const backfillAdvice = (namespace: string): string =>
  `The records of ${namespace} must be read again, and some searches are refused until then: run rollcall index apply ${namespace}`
