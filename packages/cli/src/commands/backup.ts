/** `rollcall backup`: writes the database into an encrypted file, and verifies such a file. */

import { makeBackup, verifyBackup } from '@rollcall/admin/backup/backup'
import { masterKeySource } from '@rollcall/settings/storage'
import type { Command } from 'commander'
import { readConfiguration, withDatabase } from '../environment.ts'
import { countWithNoun, type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'

export function addCommand(program: Command): void {
  const backup = withJsonOption(program.command('backup'))
    .description('write the whole database into an encrypted file, beside running servers')
    .argument('<file>', 'where to write it; an existing file is not overwritten')
    .addHelpText(
      'after',
      `
The file has all tables as they were at one moment, compressed, and encrypted with a key of its own under the master key.
Whoever restores it needs the master key, and the journal (ROLLCALL_JOURNAL): keep both apart from the backups.
A file with its name is whole. What an interrupted backup leaves ends in .part and may be deleted.

Example: rollcall backup /backups/rollcall-2026-11-22.backup
Example: rollcall backup check /backups/rollcall-2026-11-22.backup`,
    )
    .action(runBackup)
  withJsonOption(backup.command('check'))
    .description('verify a backup without a database: every byte is read, and nothing is restored')
    .argument('<file>', 'the backup')
    .addHelpText(
      'after',
      `
It needs the master key. Without a message of damage every byte of the file is as it was written.

Example: rollcall backup check /backups/rollcall-2026-11-22.backup`,
    )
    .action(runCheck)
}

async function runBackup(file: string, options: OutputOptions): Promise<void> {
  const stop = listenForStop()
  const made = await withDatabase((deps) => makeBackup({ ...deps, signal: stop.signal }, { file }))
  printResult(options, made, backupText('wrote', made))
}

async function runCheck(file: string, _: unknown, command: Command): Promise<void> {
  listenForStop()
  const config = readConfiguration()
  const found = await verifyBackup({ masterKeys: masterKeySource(config) }, { file })
  printResult(command.optsWithGlobals<OutputOptions>(), found, backupText('verified', found))
}

interface BackupFacts {
  readonly file: string
  readonly id: string
  readonly snapshot_at: string
  readonly schema: string
  readonly bytes: number
  readonly sha256: string
  readonly rows: number
  readonly tables: readonly unknown[]
}

export const backupText = (done: string, { file, id, snapshot_at, schema, bytes, sha256, rows, tables }: BackupFacts): string =>
  [
    `${done} ${file}: backup ${id} of ${snapshot_at}`,
    `${countWithNoun(rows, 'row')} in ${countWithNoun(tables.length, 'table')}, schema ${schema}, ${bytes} bytes`,
    `SHA-256 ${sha256}`,
  ].join('\n')
