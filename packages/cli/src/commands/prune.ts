/** `rollcall prune`: deletes data at the end of its retention. */
import { pruneStoredData, showRetention } from '@rollcall/admin/persons/retention'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { type OutputOptions, printResult, tableText, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'

export function addCommand(program: Command): void {
  withJsonOption(program.command('prune'))
    .description('delete what is older than its age: stored messages, keys of days, audit entries')
    .option('--dry-run', 'only count')
    .option('--ages', 'only list the ages, with the variables that set them')
    .addHelpText(
      'after',
      `
Servers delete stored messages and keys of days by themselves, every minute. Audit entries are deleted by this command
alone, in whole months that a checkpoint closes; it needs the owner of the database (ROLLCALL_OWNER_DATABASE_URL).
What a hold covers stays (rollcall hold).

Example: rollcall prune --dry-run`,
    )
    .action(runPrune)
}

interface PruneOptions extends OutputOptions {
  readonly dryRun?: boolean
  readonly ages?: boolean
}

async function runPrune({ dryRun = false, ages = false, ...options }: PruneOptions): Promise<void> {
  listenForStop()
  if (ages) return printRetention(options)
  const result = await withDatabase(({ config: { limits }, ...deps }) =>
    pruneStoredData({ ...deps, limits }, { dry_run: dryRun }),
  )
  const { stored, accounts } = result
  const rows = [...stored, { name: `audit entries before ${accounts.before}`, deleted: accounts.deleted }]
  const text = tableText(
    ['name', dryRun ? 'to delete' : 'deleted'],
    rows.map(({ name, deleted }) => ({ name, [dryRun ? 'to delete' : 'deleted']: deleted })),
    '',
  )
  const held = accounts.held === 0 ? '' : `\na hold keeps audit entries of ${accounts.held} chains`
  printResult(options, result, text + held)
}

async function printRetention(options: OutputOptions): Promise<void> {
  const rows = await withDatabase(({ config: { limits } }) => showRetention({ limits }, {}))
  const shown = rows.map(({ name, what, seconds, variables }) => ({
    name,
    days: Math.round((seconds / 86_400) * 10) / 10,
    what,
    variables: variables.join(' '),
  }))
  printResult(options, rows, tableText(['name', 'days', 'what', 'variables'], shown, ''))
}
