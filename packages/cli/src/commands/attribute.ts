/** `rollcall attribute`: what a registry can be searched by. */

import {
  ATTRIBUTE_TYPES,
  addAttribute,
  indexAttribute,
  listAttributes,
  removeAttribute,
} from '@rollcall/admin/registries/attributes'
import { type Attribute, CODE_LISTS } from '@rollcall/protocol'
import { type Command, Option } from 'commander'
import { ask, askToAdd } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { collected } from '../values.ts'

export function addCommand(program: Command): void {
  const attribute = program.command('attribute').description('manage the searchable attributes of a registry')
  withPlace(attribute.command('add'))
    .description('add an attribute to a record type of one registry; servers know it within a second')
    .requiredOption('--name <name>', 'its name in queries: lower-case letters, digits and _')
    .addOption(
      new Option('--path <path>', 'dotted path in the record; give it again for more paths, which are tried in order')
        .makeOptionMandatory()
        .argParser(collected),
    )
    .addOption(new Option('--type <type>', 'type of its values').choices(ATTRIBUTE_TYPES).default('text'))
    .addOption(
      new Option('--codes <list>', 'for type code: the list of codes, with the spellings that mean the same').choices(
        Object.keys(CODE_LISTS),
      ),
    )
    .addOption(
      new Option('--alias <name>', 'another name for it in queries; give it again for more').argParser(collected),
    )
    .option('--many', 'one record may have it many times')
    .option('--fold', 'compare text without regard to case and accents')
    .option('--indexed', 'build an index for it')
    .option('--sortable', 'allow searches to be sorted by it')
    .addHelpText(
      'after',
      `
If the registry has records already, run rollcall index apply: it backfills the attribute and builds its index. Until
then a search with this attribute is refused.

Example: rollcall attribute add civil Person --name ward --path address.ward --indexed --sortable`,
    )
    .action(runAdd)
  withPlace(attribute.command('index'))
    .description('declare an index for an attribute that is searched without one')
    .argument('<name>', 'name of the attribute')
    .addHelpText('after', '\nExample: rollcall attribute index civil Person sex && rollcall index apply civil')
    .action(runIndex)
  withPlace(attribute.command('remove'))
    .description('remove an attribute that was added, with its column; of an attribute of the kind, remove the index')
    .argument('<name>', 'name of the attribute')
    .addHelpText(
      'after',
      '\nAn attribute that a grant names is not removed: change the grant first.\n\nExample: rollcall attribute remove civil Person ward',
    )
    .action(runRemove)
  withJson(attribute.command('list'))
    .description('list the attributes of a registry, those of its kind and its own')
    .argument('<namespace>', 'namespace of the registry')
    .argument('[record-type]', 'only the attributes of this record type')
    .addHelpText('after', '\nExample: rollcall attribute list civil Person')
    .action(runList)
}

function withPlace(command: Command): Command {
  return withJson(command)
    .argument('<namespace>', 'namespace of the registry')
    .argument('<record-type>', 'one of its record types')
}

interface AddOptions extends OutputOptions {
  readonly name: string
  readonly path: readonly string[]
  readonly type: (typeof ATTRIBUTE_TYPES)[number]
  readonly codes?: Attribute['codes']
  readonly alias?: readonly string[]
  readonly many?: true
  readonly fold?: true
  readonly indexed?: true
  readonly sortable?: true
}

async function runAdd(namespace: string, record_type: string, options: AddOptions): Promise<void> {
  stopRequest()
  const { name, path: paths, type, codes, alias: aliases, many, fold, indexed, sortable } = options
  const attribute = { name, paths, type, codes, aliases, many, fold, indexed, sortable }
  tell(await askToAdd(addAttribute, { namespace, record_type, ...attribute }), namespace, options, 'added')
}

async function runIndex(namespace: string, record_type: string, name: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const indexed = await ask(indexAttribute, { namespace, record_type, name })
  tell(indexed, namespace, options, 'declared an index for')
}

function tell(
  row: Awaited<ReturnType<typeof indexAttribute>>,
  namespace: string,
  options: OutputOptions,
  done: string,
): void {
  const next = row.filled ? '' : '; its records have no value in it yet'
  print(
    options,
    row,
    `${done} ${row.name} of ${row.record_type} in ${namespace}${next}\nrollcall index apply ${namespace} creates what is missing; if nothing is missing, it changes nothing`,
  )
}

async function runRemove(namespace: string, record_type: string, name: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const removed = await ask(removeAttribute, { namespace, record_type, name })
  print(options, removed, `removed ${name} from ${namespace}`)
}

async function runList(namespace: string, record_type: string | undefined, options: OutputOptions): Promise<void> {
  stopRequest()
  const rows = await ask(listAttributes, { namespace, record_type })
  const columns = ['record_type', 'name', 'type', 'many', 'indexed', 'sortable', 'filled', 'from', 'names']
  const lines = rows.map(({ aliases, paths, codes: _, ...row }) => ({
    ...row,
    names: [...aliases, ...paths].join(' ') || null,
  }))
  print(options, rows, table(columns, lines, 'no attributes'))
}
