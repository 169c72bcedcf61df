/** `rollcall restore`: restores a database and repeats the acts of the journal. Messages are sent after `restore release`. */

import { releaseRestored } from '@rollcall/admin/backup/release'
import { adoptRestored, restoreDatabase } from '@rollcall/admin/backup/restore'
import { masterKeySource } from '@rollcall/settings/storage'
import type { Command } from 'commander'
import { readConfiguration, withDatabase, withPossiblyEmptyDatabase } from '../environment.ts'
import { type OutputOptions, printResult, tableText, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { backupText } from './backup.ts'

const AFTER_RESTORE_ADVICE =
  'Servers may start, with a new file of the journal (ROLLCALL_JOURNAL): keep the earlier one. ' +
  'Outgoing messages are held: run rollcall restore release'

export function addCommand(program: Command): void {
  const restore = withJournalOptions(program.command('restore'))
    .description('restore a backup into a new database, apply the journal, and hold outgoing messages')
    .argument('<file>', 'the backup')
    .addHelpText(
      'after',
      `
The database must be empty; both roles must be there (docs/roles.md). The whole file is verified before. A restore that
was interrupted is run again. An older backup is upgraded to this version, one of a newer version is refused.
Servers do not start before the journal is applied, and begin a new file of the journal then. Outgoing messages are held
until rollcall restore release.

Example: rollcall restore /backups/rollcall-2026-11-22.backup --journal /journal/rollcall
Example: rollcall restore adopt --journal /journal/rollcall
Example: rollcall restore release --dry-run`,
    )
    .action(runRestore)
  withJournalOptions(restore.command('adopt'))
    .description('apply the journal to a database that was restored by other means, such as point-in-time recovery')
    .addHelpText(
      'after',
      `
Stop all servers first. It does what a restore from a backup does when the rows are there: it applies the journal,
signs an entry in the audit log, and holds outgoing messages.

Example: rollcall restore adopt --journal /journal/rollcall`,
    )
    .action(runAdoptRestoredDatabase)
  withJsonOption(restore.command('release'))
    .description('send what a restored database would send, or cancel it for some participants')
    .option('--cancel <sender_id...>', 'participants to whom nothing of it is sent')
    .option('--dry-run', 'only count')
    .addHelpText(
      'after',
      `
A message that was sent after the backup goes out again with the same message_id: receivers drop what they have.
--cancel ends what waits for a participant: messages, notifications, and requests that are not answered.

Example: rollcall restore release --dry-run
Example: rollcall restore release --cancel spmis.example.org`,
    )
    .action(runReleaseMessages)
}

const withJournalOptions = (command: Command): Command =>
  withJsonOption(command)
    .option('--journal <file...>', 'the files of the journal (ROLLCALL_JOURNAL), of all nodes')
    .option(
      '--without-journal <reason>',
      'renounce the journal, and say why, without personal data: a signed entry has it for ever',
    )
    .option('--accept-undone', 'accept that acts of the journal cannot be done, and let servers start')

interface JournalOptions extends OutputOptions {
  readonly journal?: readonly string[]
  readonly withoutJournal?: string
  readonly acceptUndone?: boolean
}

const journalInput = ({ journal, withoutJournal, acceptUndone }: JournalOptions) => ({
  ...(journal !== undefined && { journal: [...journal] }),
  ...(withoutJournal !== undefined && { without_journal: withoutJournal }),
  ...(acceptUndone !== undefined && { accept_undone: acceptUndone }),
})

async function runRestore(file: string, options: JournalOptions): Promise<void> {
  const stop = listenForStop()
  const config = readConfiguration()
  const done = await withPossiblyEmptyDatabase(config, ({ config: { limits }, ...deps }) =>
    restoreDatabase(
      { ...deps, limits, masterKeys: masterKeySource(config), signal: stop.signal },
      { file, ...journalInput(options) },
    ),
  )
  const lines = [
    backupText('restored', done),
    ...(done.migrations.length > 0 ? [`ran ${done.migrations.join(', ')}`] : []),
    ...(done.left_out.length > 0 ? [`tables that Rollcall does not have: ${done.left_out.join(', ')}`] : []),
    journalText(done),
    AFTER_RESTORE_ADVICE,
  ]
  printResult(options, done, lines.join('\n'))
}

async function runAdoptRestoredDatabase(_: unknown, command: Command): Promise<void> {
  listenForStop()
  const options = command.optsWithGlobals<JournalOptions>()
  const done = await withDatabase(({ config, ...deps }) =>
    adoptRestored({ ...deps, limits: config.limits, masterKeys: masterKeySource(config) }, journalInput(options)),
  )
  printResult(
    options,
    done,
    [`the database is as it was at ${done.snapshot_at}`, journalText(done), AFTER_RESTORE_ADVICE].join('\n'),
  )
}

interface AppliedJournal {
  readonly journal: number | null
  readonly undone: readonly { readonly kind: string; readonly rule: string; readonly acts: number }[]
  readonly open_chains: number
}

const journalText = ({ journal, undone, open_chains }: AppliedJournal): string =>
  [
    `${journal === null ? 'the journal was renounced' : `applied ${journal} acts of the journal`}; ` +
      `${open_chains} chains of the audit log had not ended`,
    ...undone.map(({ kind, rule, acts }) => `NOT DONE: ${kind} ${acts} (${rule})`),
  ].join('\n')

interface ReleaseMessagesOptions extends OutputOptions {
  readonly cancel?: readonly string[]
  readonly dryRun?: boolean
}

async function runReleaseMessages(_: unknown, command: Command): Promise<void> {
  listenForStop()
  const { cancel, dryRun, ...options } = command.optsWithGlobals<ReleaseMessagesOptions>()
  const done = await withDatabase((deps) =>
    releaseRestored(deps, {
      ...(cancel !== undefined && { cancel: [...cancel] }),
      ...(dryRun !== undefined && { dry_run: dryRun }),
    }),
  )
  const columns = ['participant', 'deliveries', 'attempted', 'notifications', 'requests', 'cancelled'] as const
  const text = tableText(columns, done.participants, 'nothing waits to be sent')
  printResult(options, done, `${text}\n${done.dry_run ? 'nothing is released; this would be' : 'released'}`)
}
