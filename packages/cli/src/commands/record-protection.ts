/** `rollcall record protect`, `unprotect` and `protected list`: persons who are hidden. */
import {
  listProtected,
  PROTECTION_CATEGORIES,
  protectPerson,
  unprotectPerson,
} from '@rollcall/admin/persons/protected-persons'
import { type Command, Option } from 'commander'
import { counted } from '../asking/summary.ts'
import { ask } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { identifierOf, personOf, withPerson } from '../values.ts'

type Category = (typeof PROTECTION_CATEGORIES)[number]

export function addProtectionCommands(record: Command): void {
  withPerson(withJson(record.command('protect')).argument('<namespace>', 'namespace of the registry'))
    .description('hide a person from every participant whose grant does not name the category')
    .addOption(
      new Option('--category <category>', 'why the person is protected')
        .choices(PROTECTION_CATEGORIES)
        .makeOptionMandatory(),
    )
    .requiredOption('--reason <text>', 'for those who read the list later')
    .addHelpText(
      'after',
      `
Servers follow within a second. A record that the registry gets later is protected too.
${HISTORY}

Example: rollcall record protect civil UIN 4103278859 --category shelter --reason 'Court order 7/2026'`,
    )
    .action(runProtect)
  withPerson(withJson(record.command('unprotect')).argument('<namespace>', 'namespace of the registry'))
    .description('lift the protection of a person: it is found again')
    .addHelpText('after', `\n${HISTORY}\n\nExample: rollcall record unprotect civil UIN 4103278859`)
    .action(runUnprotect)
  const group = record.command('protected').description('show who is protected')
  withJson(group.command('list'))
    .description('list the protected persons of a registry')
    .argument('<namespace>', 'namespace of the registry')
    .option('--identifiers', 'show who they are, and the reasons: personal data')
    .addHelpText('after', '\nExample: rollcall record protected list civil --identifiers')
    .action(runList)
}

const HISTORY = 'An identifier on the command line may stay in the history of the shell.'

interface ProtectOptions extends OutputOptions {
  readonly category: Category
  readonly reason: string
}

async function runProtect(
  namespace: string,
  type: string,
  value: string | undefined,
  options: ProtectOptions,
): Promise<void> {
  stopRequest()
  const { category, reason } = options
  const named = { namespace, ...identifierOf(personOf(type, value)) }
  const result = await ask(protectPerson, { ...named, category, reason })
  const { records, rewritten, withdrawn } = result
  const text = [
    records === 0
      ? `the person is protected; ${namespace} has no record with this identifier yet`
      : 'the person is protected, and the record is hidden',
    `not found by the person any more: ${counted(rewritten, 'record')}`,
    `withdrawn: ${counted(withdrawn, 'notification')}`,
  ].join('\n')
  print(options, result, text)
}

async function runUnprotect(
  namespace: string,
  type: string,
  value: string | undefined,
  options: OutputOptions,
): Promise<void> {
  stopRequest()
  const named = { namespace, ...identifierOf(personOf(type, value)) }
  const result = await ask(unprotectPerson, named)
  print(options, result, 'the protection is lifted: the person is found again')
}

interface ListOptions extends OutputOptions {
  readonly identifiers?: true
}

async function runList(namespace: string, options: ListOptions): Promise<void> {
  stopRequest()
  const rows = await ask(listProtected, { namespace, identifiers: options.identifiers })
  const named = options.identifiers ? ['identifier_value', 'reason'] : []
  const columns = ['category', 'protected_at', 'records', 'identifier_type', ...named]
  print(options, rows, table(columns, rows, `nobody is protected in ${namespace}`))
}
