/** `rollcall attribute`: manages the attributes by which a registry can be searched. */
import type { indexAttribute } from '@rollcall/admin/registries/attributes'
import { adminCommand } from '../admin-command.ts'
import type { CommandGroup } from '../command-tree.ts'
import { tableFormatter } from '../output.ts'

const loadAttributeActs = () => import('@rollcall/admin/registries/attributes')

type AttributeResult = Awaited<ReturnType<typeof indexAttribute>>

const attributeChangeText = (done: string, { name, record_type, filled }: AttributeResult, namespace: unknown): string =>
  `${done} ${name} of ${record_type} in ${namespace}${filled ? '' : '; its records have no value in it yet'}\n` +
  `rollcall index apply ${namespace} creates what is missing; if nothing is missing, it changes nothing`

export const COMMAND_TREE: CommandGroup = {
  about: 'manage the searchable attributes of a registry',
  commands: {
    add: adminCommand(async () => (await loadAttributeActs()).addAttribute, {
      about: 'add an attribute to a record type of one registry; servers know it within a second',
      args: 'namespace record_type',
      options: { paths: '--path <path>', type: { default: 'text' }, codes: '--codes <list>', aliases: '--alias <name>' },
      notes: `
If the registry has records already, run rollcall index apply: it backfills the attribute and builds its index. Until
then a search with this attribute is refused.`,
      examples: ['civil Person --name ward --path address.ward --indexed --sortable'],
      adds: true,
      text: (added, { namespace }) => attributeChangeText('added', added, namespace),
    }),
    index: adminCommand(async () => (await loadAttributeActs()).indexAttribute, {
      about: 'declare an index for an attribute that is searched without one',
      args: 'namespace record_type name',
      examples: ['rollcall attribute index civil Person sex && rollcall index apply civil'],
      text: (indexed, { namespace }) => attributeChangeText('declared an index for', indexed, namespace),
    }),
    remove: adminCommand(async () => (await loadAttributeActs()).removeAttribute, {
      about: 'remove an attribute that was added, with its column; of an attribute of the kind, remove the index',
      args: 'namespace record_type name',
      notes: 'An attribute that a grant names is not removed: change the grant first.',
      examples: ['civil Person ward'],
      text: ({ name, namespace }) => `removed ${name} from ${namespace}`,
    }),
    list: adminCommand(async () => (await loadAttributeActs()).listAttributes, {
      about: 'list the attributes of a registry, those of its kind and its own',
      args: 'namespace [record_type]',
      examples: ['civil Person'],
      text: tableFormatter(
        'record_type name type many indexed sortable filled from names',
        'no attributes',
        ({ aliases, paths, ...row }) => ({ ...row, names: [...aliases, ...paths] }),
      ),
    }),
  },
}
