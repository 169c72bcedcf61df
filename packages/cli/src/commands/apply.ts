/** `rollcall apply`: changes a database to match a configuration file. */
import { applyConfiguration, Configuration } from '@rollcall/admin/configuration/apply'
import type { Command } from 'commander'
import { callWithNonDemoDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { readYaml } from '../yaml.ts'

export function addCommand(program: Command): void {
  withJsonOption(program.command('apply'))
    .description('make the registries, participants and grants of a file, and print what changed')
    .argument('[file]', 'the configuration in YAML or JSON; - for standard input')
    .option('--dry-run', 'print what would change, and change nothing')
    .option('--schema', 'print the JSON Schema of the file, and do nothing else')
    .addHelpText(
      'after',
      `
What is as the file says is not touched. What the file does not name stays as it is. Everything is checked before the
first change. docs/configuration.md explains the file; rollcall export writes one.

Example: rollcall apply rollcall.yaml --dry-run
Example: rollcall apply rollcall.yaml
Example: rollcall apply --schema`,
    )
    .action(runApply)
}

interface ApplyOptions extends OutputOptions {
  readonly dryRun?: true
  readonly schema?: true
}

async function runApply(file: string | undefined, { dryRun: dry_run, schema, ...options }: ApplyOptions): Promise<void> {
  listenForStop()
  if (schema) {
    const whole = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...Configuration }
    return printResult(options, whole, JSON.stringify(whole, null, 2))
  }
  if (file === undefined) throw new CommandError('a file is needed; - is standard input')
  const { value: configuration, refusedWithLine } = await readYaml(file)
  const applied = await refusedWithLine(() => callWithNonDemoDatabase(applyConfiguration, { configuration, dry_run }))
  printResult(options, applied, appliedText(applied))
}

type AppliedConfiguration = Awaited<ReturnType<typeof applyConfiguration>>

const CHANGE_SIGNS = { add: '+', change: '~', remove: '-' } as const

function appliedText({ changes, applied, credentials, unlisted }: AppliedConfiguration): string {
  const made = `${changes.length} ${changes.length === 1 ? 'change' : 'changes'}`
  const lines = [
    ...changes.flatMap(({ at, change, from, to }) => [
      `${CHANGE_SIGNS[change]} ${at}`,
      ...(from === null ? [] : [`    - ${JSON.stringify(from)}`]),
      ...(to === null ? [] : [`    + ${JSON.stringify(to)}`]),
    ]),
    changes.length === 0 ? 'everything is as the file says' : `${made}${applied ? '' : '; nothing was changed'}`,
    ...(unlisted.length === 0 ? [] : [`not in the file, and left as they are: ${unlisted.join(', ')}`]),
    ...credentials.map(
      ({ sender_id, client_id, client_secret }) => `${sender_id}: client_id ${client_id}, client_secret ${client_secret}`,
    ),
    ...(credentials.length === 0 ? [] : ['Secrets are not stored and cannot be shown again.']),
  ]
  return lines.join('\n')
}
