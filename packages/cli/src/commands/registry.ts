/** `rollcall registry`: which registries are hosted. */
import { KINDS } from '@rollcall/protocol'
import { addRegistry, changeRegistry, listRegistries } from '@rollcall/server/admin/registries'
import { Argument, type Command } from 'commander'
import { ask } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'

export function addCommand(program: Command): void {
  const registry = program.command('registry').description('manage the registries of this server')
  withJson(registry.command('add'))
    .description('add a registry, mounted at its namespace; a running server has it within a second')
    .addArgument(new Argument('<kind>', 'kind of the registry').choices(KINDS.map(({ name }) => name)))
    .option('--namespace <namespace>', 'first segment of its paths (default: the kind)')
    .option('--sender-id <sender_id>', 'its sender_id in messages (default: <namespace>.rollcall)')
    .option('--alias <receiver_id...>', 'more values of receiver_id that it accepts')
    .option('--time-zone <zone>', 'time zone in which its days begin and ages are counted (default: UTC)')
    .addHelpText(
      'after',
      `
Example: rollcall registry add civil --namespace crvs --sender-id crvs.example.org --time-zone Africa/Kigali`,
    )
    .action(runAdd)
  withJson(registry.command('set'))
    .description('change a registry; servers use the change within a second')
    .argument('<namespace>', 'namespace of the registry')
    .requiredOption('--time-zone <zone>', 'time zone in which its days begin, such as Africa/Kigali')
    .addHelpText('after', '\nExample: rollcall registry set civil --time-zone Africa/Kigali')
    .action(runSet)
  withJson(registry.command('list'))
    .description('list the registries with the number of their records')
    .addHelpText('after', '\nExample: rollcall registry list --json')
    .action(runList)
}

interface AddOptions extends OutputOptions {
  readonly namespace?: string
  readonly senderId?: string
  readonly alias?: readonly string[]
  readonly timeZone?: string
}

async function runAdd(kind: string, options: AddOptions): Promise<void> {
  stopRequest()
  const { namespace, senderId: sender_id, alias: aliases, timeZone: time_zone } = options
  const added = await ask(addRegistry, { kind, namespace, sender_id, aliases, time_zone })
  const text = `added ${added.namespace}, a ${added.kind} registry that calls itself ${added.sender_id}`
  print(options, added, text)
}

interface SetOptions extends OutputOptions {
  readonly timeZone: string
}

async function runSet(namespace: string, options: SetOptions): Promise<void> {
  stopRequest()
  const changed = await ask(changeRegistry, { namespace, time_zone: options.timeZone })
  print(options, changed, `the time zone of ${namespace} is ${changed.time_zone}`)
}

async function runList(options: OutputOptions): Promise<void> {
  stopRequest()
  const rows = await ask(listRegistries, {})
  const lines = rows.map(({ records, aliases, ...row }) => ({
    ...row,
    aliases: aliases.join(' ') || null,
    records: Object.entries(records)
      .map(([type, count]) => `${count} ${type}`)
      .join(', '),
  }))
  const columns = ['namespace', 'kind', 'sender_id', 'aliases', 'time_zone', 'demo', 'records']
  print(options, rows, table(columns, lines, 'no registries yet; rollcall registry add makes one'))
}
