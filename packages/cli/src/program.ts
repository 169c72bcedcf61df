/** The commands. Each is loaded when it is needed: `rollcall generate` does not wait for the parts of a server. */
import { Command, CommanderError, Help } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { addCommandTree, type CommandGroup, type LeafCommand } from './command-tree.ts'
import { EXIT_CODES, reportFailure } from './failure.ts'

/** The module of a command: it adds the command by a function, or exports the command and those below it as data. */
type CommandModule = { readonly addCommand: (program: Command) => void } | { readonly COMMAND_TREE: LeafCommand | CommandGroup }

interface CommandListEntry {
  /** The line about this command in the list of all commands. The list is made without loading the commands. */
  readonly summary: string
  readonly load: () => Promise<CommandModule>
}

const FIRST_GROUP_TITLE = 'Run a server:'

/** A row for each command, by group, in the order of the help. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, CommandListEntry>>>> = {
  [FIRST_GROUP_TITLE]: {
    serve: { summary: 'run the server; it migrates the database first', load: () => import('./commands/serve.ts') },
    demo: { summary: 'run a demo with synthetic people', load: () => import('./commands/demo.ts') },
    migrate: { summary: 'create or upgrade the tables of the database', load: () => import('./commands/migrate.ts') },
    setup: { summary: 'make this machine a registry in production', load: () => import('./commands/setup.ts') },
    upgrade: { summary: 'put the installed version into use', load: () => import('./commands/upgrade.ts') },
    doctor: { summary: 'list every weak setting; it changes nothing', load: () => import('./commands/doctor.ts') },
    keys: { summary: 'manage our own keys', load: () => import('./commands/keys.ts') },
    backup: { summary: 'write the whole database into an encrypted file', load: () => import('./commands/backup.ts') },
    restore: { summary: 'restore a backup into a new database', load: () => import('./commands/restore.ts') },
  },
  'Registries and their records:': {
    registry: { summary: 'manage the registries of this server', load: () => import('./commands/registry.ts') },
    'identifier-type': {
      summary: 'manage the identifier types of a registry',
      load: () => import('./commands/identifier-type.ts'),
    },
    attribute: { summary: 'manage the searchable attributes of a registry', load: () => import('./commands/attribute.ts') },
    index: { summary: 'plan and build the indexes that searches need', load: () => import('./commands/index-command.ts') },
    explain: { summary: 'show how a search is understood, and its plan', load: () => import('./commands/explain.ts') },
    import: { summary: 'import records into a registry', load: () => import('./commands/import.ts') },
    mapping: { summary: 'column mappings of files for import', load: () => import('./commands/mapping.ts') },
    source: { summary: "check records that stay in the registry's own database", load: () => import('./commands/source.ts') },
    record: { summary: 'get, delete, merge or protect single records', load: () => import('./commands/record.ts') },
    publish: { summary: 'publish an event of a record', load: () => import('./commands/publish.ts') },
    outbox: { summary: 'look after the outbox of existing systems', load: () => import('./commands/outbox.ts') },
    simulate: { summary: 'make a sandbox registry live', load: () => import('./commands/simulate.ts') },
    generate: { summary: 'write synthetic records', load: () => import('./commands/generate.ts') },
  },
  'Participants and what they may do:': {
    participant: { summary: 'manage the systems that may send requests', load: () => import('./commands/participant.ts') },
    grant: { summary: 'manage what participants may do in each registry', load: () => import('./commands/grant.ts') },
    purpose: { summary: 'manage the purposes that consents may name', load: () => import('./commands/purpose.ts') },
    consent: { summary: 'manage who may sign consents; withdraw consents', load: () => import('./commands/consent.ts') },
    export: { summary: 'print the registries and participants as such a file', load: () => import('./commands/export.ts') },
    apply: { summary: 'make the registries and participants of a file', load: () => import('./commands/apply.ts') },
    operator: { summary: 'manage the tokens of the admin API', load: () => import('./commands/operator.ts') },
    proposal: { summary: 'acts that wait for a second operator', load: () => import('./commands/proposal.ts') },
  },
  'Messages, and who looked:': {
    trace: { summary: 'print what happened to a message', load: () => import('./commands/trace.ts') },
    deliveries: { summary: 'list, retry, replay and drop what is sent', load: () => import('./commands/deliveries.ts') },
    subscriptions: {
      summary: 'list, show, cancel, test and resume subscriptions',
      load: () => import('./commands/subscriptions.ts'),
    },
    inbox: { summary: 'list and show the callbacks of other systems', load: () => import('./commands/inbox.ts') },
    audit: { summary: 'who asked for data of people, and who saw it', load: () => import('./commands/audit.ts') },
    erase: { summary: 'erase a person', load: () => import('./commands/erase.ts') },
    hold: { summary: 'keep data from prune and erase', load: () => import('./commands/hold.ts') },
    prune: { summary: 'delete what is older than its age', load: () => import('./commands/prune.ts') },
  },
  'Ask a registry:': {
    search: { summary: 'ask for records', load: () => import('./commands/search.ts') },
    enrolled: { summary: 'ask whether a person is enrolled', load: () => import('./commands/enrolled.ts') },
    subscribe: { summary: 'subscribe to events, and print them', load: () => import('./commands/subscribe.ts') },
    unsubscribe: { summary: 'end subscriptions', load: () => import('./commands/unsubscribe.ts') },
    status: { summary: 'ask for the state of an earlier request', load: () => import('./commands/status.ts') },
    enrol: { summary: 'send enrolments to a beneficiary registry', load: () => import('./commands/enrol.ts') },
    listen: { summary: 'receive callbacks, and print them', load: () => import('./commands/listen.ts') },
    check: { summary: 'check that our system works with a registry', load: () => import('./commands/check.ts') },
  },
}

/**
 * Runs one command and sets the exit code of the process. A failure is reported on standard error.
 * @param words the command line after `rollcall`
 */
export async function runCommand(words: readonly string[]): Promise<void> {
  process.on('uncaughtException', (error) => {
    reportFailure(error).finally(() => process.exit(EXIT_CODES.failed))
  })
  try {
    const program = await makeProgramFor(words)
    await program.parseAsync(words.length > 0 ? words : ['--help'], { from: 'user' })
  } catch (error) {
    process.exitCode = error instanceof CommanderError ? usageExitCode(error) : await reportFailure(error)
  }
}

/**
 * Makes the program that lists all commands in its help, and loads only the command that `words` name; without a name, or with
 * an unknown name, it loads none.
 */
export async function makeProgramFor(words: readonly string[]): Promise<Command> {
  const [first, ...others] = words[0] === 'help' ? words.slice(1) : words
  const program = await makeProgram(
    (one) => one === first,
    (one) => others.includes(one),
  )
  const isAskedForAll = words[0] === 'help' && first === undefined
  return isAskedForAll ? program : program.configureHelp({ ...NAMES_ONLY_HELP, formatHelp: formatAllCommands })
}

/** Makes the program with all of its commands. */
export const makeWholeProgram = (): Promise<Command> =>
  makeProgram(
    () => true,
    () => true,
  )

/**
 * Makes the program.
 * @param isLoaded whether to load the command of this name, such as `grant`
 * @param isNamed whether to define the options of the subcommand of this name, such as `set` in `grant set`
 */
async function makeProgram(isLoaded: (name: string) => boolean, isNamed: (name: string) => boolean): Promise<Command> {
  const program = newProgram()
  for (const [group, rows] of Object.entries(COMMANDS)) {
    for (const [name, { summary, load }] of Object.entries(rows)) {
      const loaded = isLoaded(name) ? await load() : null
      if (loaded !== null && 'addCommand' in loaded) loaded.addCommand(program)
      else {
        const command = program.command(name)
        if (loaded !== null) await addCommandTree(command, loaded.COMMAND_TREE, isNamed)
      }
      program.commands
        .find((command) => command.name() === name)
        ?.summary(summary)
        .helpGroup(group)
    }
  }
  // Each command inherits the help command that the function `newProgram` adds, which is in no group of the help. In the program
  // itself, the help command below replaces it.
  return program.addHelpCommand(helpCommand().helpGroup(FIRST_GROUP_TITLE))
}

const NAMES_ONLY_HELP: Partial<Help> = { subcommandTerm: (command) => command.name() }

/** Characters in a line of the help. */
const HELP_WIDTH = 80

/** Returns the names of all commands by group, on one screen. Of a single command, returns the help that Commander makes. */
function formatAllCommands(command: Command, helper: Help): string {
  if (command.parent !== null) return Help.prototype.formatHelp.call(helper, command, helper)
  const groups = Object.entries(COMMANDS).map(([group, rows]) => {
    const names = helper.boxWrap(Object.keys(rows).join(', '), HELP_WIDTH - 2)
    return `${group}\n  ${names.replaceAll('\n', '\n  ')}`
  })
  return [`Usage: ${helper.commandUsage(command)}`, '', command.description(), '', ...groups, ''].join('\n')
}

const helpCommand = (): Command => new Command('help').argument('[command]').description('show the help of a command')

function newProgram(): Command {
  return new Command('rollcall')
    .description('A registry interoperability server and its workbench.')
    .version(packageJson.version)
    .exitOverride()
    .addHelpCommand(helpCommand())
    .configureHelp(NAMES_ONLY_HELP)
    .showHelpAfterError('(add --help to see the options of the command)')
    .addHelpText(
      'after',
      `
rollcall help says what each does, rollcall <command> --help shows one.
Environment variables configure all (docs/settings.md), such as DATABASE_URL;
without it, an embedded PostgreSQL in ROLLCALL_DATA (./.rollcall) is used.
Exit codes: 0 done, 1 failed, 2 not understood, 5 waits for a second operator.`,
    )
}

/** The exit code after commander has printed an error. A request for help or the version is no error. */
function usageExitCode({ exitCode }: CommanderError): number {
  return exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.usage
}
