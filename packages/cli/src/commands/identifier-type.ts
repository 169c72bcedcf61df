/** `rollcall identifier-type`: by which numbers the records of a registry are found. */
import {
  addIdentifierType,
  COMPARED_AS,
  changeIdentifierType,
  listIdentifierTypes,
  removeIdentifierType,
} from '@rollcall/admin/registries/identifier-types'
import { type Command, Option } from 'commander'
import { ask, askToAdd } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { collected } from '../values.ts'

export function addCommand(program: Command): void {
  const type = program.command('identifier-type').description('manage the identifier types of a registry')
  withType(type.command('add'))
    .description('add an identifier type to one registry; servers know it within a second')
    .addOption(
      new Option(
        '--compare-as <how>',
        'how values are compared: code without case and spaces, phone by digits, email (default: code)',
      ).choices(COMPARED_AS),
    )
    .addOption(new Option('--alias <name>', 'another name for it; give it again for more').argParser(collected))
    .addOption(new Option('--pattern <form>', 'form of its values; give it again for more forms').argParser(collected))
    .option('--sortable', 'searches may be sorted by it')
    .addHelpText(
      'after',
      `${PATTERNS}${BACKFILL}\n\nExample: rollcall identifier-type add civil CEDULA --pattern '[0-9]{8,10}'`,
    )
    .action(runAdd)
  withType(type.command('set'))
    .description('change the names and forms of an identifier type that was added')
    .addOption(new Option('--alias <name>', 'its other names, instead of those there are').argParser(collected))
    .addOption(
      new Option('--pattern <form>', 'the forms of its values, instead of those there are').argParser(collected),
    )
    .option('--any-form', 'its values may have any form')
    .option('--sortable', 'searches may be sorted by it')
    .option('--no-sortable', 'searches are not sorted by it any more')
    .addHelpText(
      'after',
      `${PATTERNS}${BACKFILL}\n\nExample: rollcall identifier-type set civil CEDULA --pattern '[0-9]{10}'`,
    )
    .action(runSet)
  withType(type.command('remove'))
    .description('remove an identifier type that was added; of a type of the kind, what was added to it')
    .addHelpText(
      'after',
      `
A type that a grant names, or that is primary, is not removed; nor is one of which records have identifiers.

Example: rollcall identifier-type remove civil CEDULA`,
    )
    .action(runRemove)
  withJson(type.command('list'))
    .description('list the identifier types of a registry, those of its kind and its own')
    .argument('<namespace>', 'namespace of the registry')
    .addHelpText('after', '\nExample: rollcall identifier-type list civil')
    .action(runList)
}

const PATTERNS = `
A form is written with digits, capital letters, - / . _ and classes such as [0-9], [A-Z0-9] or \\d; behind each may stand
{n}, {n,m} or ?. Values are compared in capitals. A record or a query with a value of another form is refused; records that
were stored before keep theirs.
`
const BACKFILL = `
If the registry has records already, run rollcall index apply: it reads their identifiers again. Until then a search for
this type is refused. To know the records by the type: rollcall registry set <namespace> --primary <type>, before the first
import.`

function withType(command: Command): Command {
  return withJson(command)
    .argument('<namespace>', 'namespace of the registry')
    .argument('<type>', 'name of the identifier type: capital letters, digits and _')
}

interface TypeOptions extends OutputOptions {
  readonly compareAs?: (typeof COMPARED_AS)[number]
  readonly alias?: readonly string[]
  readonly pattern?: readonly string[]
  readonly anyForm?: true
  readonly sortable?: boolean
}

async function runAdd(namespace: string, name: string, options: TypeOptions): Promise<void> {
  stopRequest()
  const { compareAs: compared_as, alias: aliases, pattern: patterns, sortable } = options
  const given = { namespace, name, compared_as, aliases, patterns, sortable }
  const added = await askToAdd(addIdentifierType, given)
  print(options, added, `added the identifier type ${added.name} to ${namespace}\n${NEXT(namespace)}`)
}

async function runSet(namespace: string, name: string, options: TypeOptions): Promise<void> {
  stopRequest()
  const { alias: aliases, pattern, anyForm, sortable } = options
  const patterns = anyForm === true ? [] : pattern
  const changed = await ask(changeIdentifierType, { namespace, name, aliases, patterns, sortable })
  print(options, changed, `changed the identifier type ${changed.name} of ${namespace}\n${NEXT(namespace)}`)
}

const NEXT = (namespace: string): string =>
  `rollcall index apply ${namespace} reads the identifiers of its records again; without records it changes nothing`

async function runRemove(namespace: string, name: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const removed = await ask(removeIdentifierType, { namespace, name })
  print(options, removed, `removed the identifier type ${name} from ${namespace}`)
}

async function runList(namespace: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const rows = await ask(listIdentifierTypes, { namespace })
  const lines = rows.map(({ name, compared_as, aliases, patterns, primary, from }) => ({
    name,
    compared_as,
    from,
    primary_of: primary.join(' ') || null,
    names: aliases.join(' ') || null,
    forms: patterns.join(' ') || null,
  }))
  const columns = ['name', 'compared_as', 'primary_of', 'from', 'names', 'forms']
  print(options, rows, table(columns, lines, 'no identifier types'))
}
