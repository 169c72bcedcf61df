/** The commands, loaded as they are needed: `rollcall generate` does not wait for the parts of a server. */
import { Command, CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { EXIT, reportFailure } from './failure.ts'

interface CommandModule {
  addCommand(program: Command): void
}

/** One row a command, in the order of the help. */
const COMMANDS: Readonly<Record<string, () => Promise<CommandModule>>> = {
  serve: () => import('./commands/serve.ts'),
  demo: () => import('./commands/demo.ts'),
  migrate: () => import('./commands/migrate.ts'),
  registry: () => import('./commands/registry.ts'),
  'identifier-type': () => import('./commands/identifier-type.ts'),
  attribute: () => import('./commands/attribute.ts'),
  index: () => import('./commands/index-command.ts'),
  explain: () => import('./commands/explain.ts'),
  record: () => import('./commands/record.ts'),
  publish: () => import('./commands/publish.ts'),
  outbox: () => import('./commands/outbox.ts'),
  participant: () => import('./commands/participant.ts'),
  grant: () => import('./commands/grant.ts'),
  purpose: () => import('./commands/purpose.ts'),
  consent: () => import('./commands/consent.ts'),
  export: () => import('./commands/export.ts'),
  apply: () => import('./commands/apply.ts'),
  operator: () => import('./commands/operator.ts'),
  proposal: () => import('./commands/proposal.ts'),
  subscriptions: () => import('./commands/subscriptions.ts'),
  deliveries: () => import('./commands/deliveries.ts'),
  trace: () => import('./commands/trace.ts'),
  inbox: () => import('./commands/inbox.ts'),
  keys: () => import('./commands/keys.ts'),
  audit: () => import('./commands/audit.ts'),
  prune: () => import('./commands/prune.ts'),
  erase: () => import('./commands/erase.ts'),
  hold: () => import('./commands/hold.ts'),
  backup: () => import('./commands/backup.ts'),
  restore: () => import('./commands/restore.ts'),
  mapping: () => import('./commands/mapping.ts'),
  import: () => import('./commands/import.ts'),
  check: () => import('./commands/check.ts'),
  search: () => import('./commands/search.ts'),
  subscribe: () => import('./commands/subscribe.ts'),
  unsubscribe: () => import('./commands/unsubscribe.ts'),
  status: () => import('./commands/status.ts'),
  enrolled: () => import('./commands/enrolled.ts'),
  enrol: () => import('./commands/enrol.ts'),
  listen: () => import('./commands/listen.ts'),
  simulate: () => import('./commands/simulate.ts'),
  generate: () => import('./commands/generate.ts'),
  doctor: () => import('./commands/doctor.ts'),
}

/**
 * Runs one command to its end and sets the exit code of the process; a failure is reported in one line on standard
 * error.
 * @param words the command line after `rollcall`
 */
export async function runCommand(words: readonly string[]): Promise<void> {
  process.on('uncaughtException', (error) => {
    reportFailure(error).finally(() => process.exit(EXIT.failed))
  })
  try {
    const program = await programFor(words)
    await program.parseAsync(words.length > 0 ? words : ['--help'], { from: 'user' })
  } catch (error) {
    process.exitCode = error instanceof CommanderError ? usageExit(error) : await reportFailure(error)
  }
}

/** The program, with the command that the words begin with; with all of them where they begin with none. */
export async function programFor(words: readonly string[]): Promise<Command> {
  const program = newProgram()
  for (const { addCommand } of await modulesFor(words)) addCommand(program)
  return program
}

function newProgram(): Command {
  return new Command('rollcall')
    .description('A registry interoperability server and its workbench.')
    .version(packageJson.version)
    .exitOverride()
    .showHelpAfterError('(add --help to see the options of the command)')
    .addHelpText(
      'after',
      `
These and other environment variables configure every command: PORT, HOST, ADMIN_PORT, ADMIN_HOST, ROLLCALL_DATA
(default ./.rollcall), DATABASE_URL (default: the embedded PostgreSQL), ROLLCALL_PUBLIC_URL, LOG_LEVEL.

Exit codes: 0 done, 1 failed, 2 the command line was not understood, 5 it
waits for a second operator; import has more.`,
    )
}

function modulesFor(words: readonly string[]): Promise<CommandModule[]> {
  const [name = ''] = words
  const rows = Object.hasOwn(COMMANDS, name) ? [COMMANDS[name]] : Object.values(COMMANDS)
  return Promise.all(rows.flatMap((load) => (load ? [load()] : [])))
}

/** commander has already printed the error; a request for help or version is not an error. */
function usageExit({ exitCode }: CommanderError): number {
  return exitCode === 0 ? EXIT.done : EXIT.usage
}
