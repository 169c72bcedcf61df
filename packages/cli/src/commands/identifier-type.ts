/** `rollcall identifier-type`: manages the types of identifiers that find the records of a registry. */
import { adminCommand } from '../admin-command.ts'
import type { CommandGroup } from '../command-tree.ts'
import { tableFormatter } from '../output.ts'

const loadIdentifierTypeActs = () => import('@rollcall/admin/registries/identifier-types')

const TYPE_OPTIONS = { aliases: '--alias <name>', patterns: { flags: '--pattern <form>', help: 'form of its values' } } as const

const IDENTIFIER_TYPE_NOTES = `
A form is written with digits, capital letters, - / . _ and classes such as [0-9], [A-Z0-9] or \\d; behind each may stand
{n}, {n,m} or ?. Values are compared in capitals. A record or a query with a value of another form is refused; records that
were stored before keep theirs.

If the registry has records already, run rollcall index apply: it reads their identifiers again. Until then a search for
this type is refused. To know the records by the type: rollcall registry set <namespace> --primary <type>, before the first
import.`

const indexApplyAdviceText = (namespace: unknown): string =>
  `rollcall index apply ${namespace} reads the identifiers of its records again; without records it changes nothing`

export const COMMAND_TREE: CommandGroup = {
  about: 'manage the identifier types of a registry',
  commands: {
    add: adminCommand(async () => (await loadIdentifierTypeActs()).addIdentifierType, {
      about: 'add an identifier type to one registry; servers know it within a second',
      args: 'namespace name',
      options: {
        ...TYPE_OPTIONS,
        compared_as: {
          flags: '--compare-as <how>',
          help: 'how values are compared: code without case and spaces, phone by digits, email (default: code)',
        },
        sortable: { help: 'searches may be sorted by it' },
      },
      notes: IDENTIFIER_TYPE_NOTES,
      examples: ["civil CEDULA --pattern '[0-9]{8,10}'"],
      adds: true,
      text: ({ name }, { namespace }) => `added the identifier type ${name} to ${namespace}\n${indexApplyAdviceText(namespace)}`,
    }),
    set: adminCommand(async () => (await loadIdentifierTypeActs()).changeIdentifierType, {
      about: 'change the names and forms of an identifier type that was added; what is given replaces what there was',
      args: 'namespace name',
      options: { ...TYPE_OPTIONS, sortable: { help: 'searches may be sorted by it' } },
      more: { '--any-form': 'its values may have any form', '--no-sortable': 'searches are not sorted by it any more' },
      notes: IDENTIFIER_TYPE_NOTES,
      examples: ["civil CEDULA --pattern '[0-9]{10}'"],
      input: ({ anyForm }) => (anyForm ? { patterns: [] } : {}),
      text: ({ name }, { namespace }) =>
        `changed the identifier type ${name} of ${namespace}\n${indexApplyAdviceText(namespace)}`,
    }),
    remove: adminCommand(async () => (await loadIdentifierTypeActs()).removeIdentifierType, {
      about: 'remove an identifier type that was added; of a type of the kind, what was added to it',
      args: 'namespace name',
      notes: 'A type that a grant names, or that is primary, is not removed; nor is one of which records have identifiers.',
      examples: ['civil CEDULA'],
      text: ({ name, namespace }) => `removed the identifier type ${name} from ${namespace}`,
    }),
    list: adminCommand(async () => (await loadIdentifierTypeActs()).listIdentifierTypes, {
      about: 'list the identifier types of a registry, those of its kind and its own',
      args: 'namespace',
      examples: ['civil'],
      text: tableFormatter(
        'name compared_as primary_of from names forms',
        'no identifier types',
        ({ primary, aliases, patterns, ...row }) => ({ ...row, primary_of: primary, names: aliases, forms: patterns }),
      ),
    }),
  },
}
