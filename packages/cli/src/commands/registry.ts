/** `rollcall registry`: which registries are hosted. */
import { KINDS } from '@rollcall/protocol'
import { addRegistry, changeRegistry, listRegistries } from '@rollcall/server/admin/registries'
import { Argument, type Command } from 'commander'
import { ask } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { wholeNumber } from '../values.ts'

export function addCommand(program: Command): void {
  const registry = program.command('registry').description('manage the registries of this server')
  withJson(registry.command('add'))
    .description('add a registry, mounted at its namespace; a running server has it within a second')
    .addArgument(new Argument('<kind>', 'kind of the registry').choices(KINDS.map(({ name }) => name)))
    .option('--namespace <namespace>', 'first segment of its paths (default: the kind)')
    .option('--sender-id <sender_id>', 'its sender_id in messages (default: <namespace>.rollcall)')
    .option('--alias <receiver_id...>', 'more values of receiver_id that it accepts')
    .option('--time-zone <zone>', 'time zone in which its days begin and ages are counted (default: UTC)')
    .option(...MAJORITY)
    .addHelpText(
      'after',
      `
Example: rollcall registry add civil --namespace crvs --sender-id crvs.example.org --time-zone Africa/Kigali`,
    )
    .action(runAdd)
  withJson(registry.command('set'))
    .description('change a registry; servers use the change within a second')
    .argument('<namespace>', 'namespace of the registry')
    .option('--time-zone <zone>', 'time zone in which its days begin, such as Africa/Kigali')
    .option(...MAJORITY)
    .addHelpText('after', '\nExample: rollcall registry set civil --time-zone Africa/Kigali --majority 21')
    .action(runSet)
  withJson(registry.command('list'))
    .description('list the registries with the number of their records')
    .addHelpText('after', '\nExample: rollcall registry list --json')
    .action(runList)
}

const MAJORITY = [
  '--majority <years>',
  'age at which people come of age, for grants that never find minors (default: 18)',
  wholeNumber(1, 99),
] as const

interface AddOptions extends OutputOptions {
  readonly namespace?: string
  readonly senderId?: string
  readonly alias?: readonly string[]
  readonly timeZone?: string
  readonly majority?: number
}

async function runAdd(kind: string, options: AddOptions): Promise<void> {
  stopRequest()
  const { namespace, senderId: sender_id, alias: aliases, timeZone: time_zone } = options
  const registry = { kind, namespace, sender_id, aliases, time_zone, majority_age: options.majority }
  const added = await ask(addRegistry, registry)
  const text = `added ${added.namespace}, a ${added.kind} registry that calls itself ${added.sender_id}`
  print(options, added, text)
}

interface SetOptions extends OutputOptions {
  readonly timeZone?: string
  readonly majority?: number
}

async function runSet(namespace: string, options: SetOptions): Promise<void> {
  stopRequest()
  const { timeZone: time_zone, majority: majority_age } = options
  const changed = await ask(changeRegistry, { namespace, time_zone, majority_age })
  const text = `the time zone of ${namespace} is ${changed.time_zone}, and people come of age at ${changed.majority_age}`
  print(options, changed, text)
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
  const columns = [
    'namespace',
    'kind',
    'sender_id',
    'aliases',
    'time_zone',
    'majority_age',
    'demo',
    'records',
  ]
  print(options, rows, table(columns, lines, 'no registries yet; rollcall registry add makes one'))
}
