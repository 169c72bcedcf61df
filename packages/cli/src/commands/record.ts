/** `rollcall record`: shows, deletes, merges and protects single records of a registry. */

import { adminCommand } from '../admin-command.ts'
import { type CommandGroup, lazyCommand } from '../command-tree.ts'
import { countWithNoun, tableText } from '../output.ts'
import { PERSON_HELP, readPersonArguments, readTypeAndValue, renameIdentifierMembers } from '../values.ts'

const loadMergeActs = () => import('@rollcall/admin/records/merge')
const loadProtectionActs = () => import('@rollcall/admin/persons/protected-persons')

const SHELL_HISTORY_NOTE = 'Identifiers on the command line may stay in the history of the shell.'

/** The option --record-type of commands that name records. */
const RECORD_TYPE_OPTION = { help: 'record type of the records (default: all record types are searched)' } as const

const readIdentifierArgument = (text: unknown, name: string) => renameIdentifierMembers(readTypeAndValue(String(text), name))

const identifierOfPerson = (given: Readonly<Record<string, unknown>>) => renameIdentifierMembers(readPersonArguments(given))

/** The arguments that name a person by an identifier: as two words, or as one word TYPE=VALUE. */
const PERSON_ARGUMENTS = {
  args: 'namespace type [value]',
  options: { ...PERSON_HELP, identifier_type: null, identifier_value: null },
} as const

export const COMMAND_TREE: CommandGroup = {
  about: 'get, delete, merge or protect single records of a registry',
  commands: {
    get: adminCommand(async () => (await import('@rollcall/admin/records/record')).showRecord, {
      ...PERSON_ARGUMENTS,
      about: 'print the records that an identifier names, whole; an audit entry says first who looked',
      notes: SHELL_HISTORY_NOTE,
      examples: ['civil UIN 8128560370'],
      input: readPersonArguments,
      text: (found) => found.map(({ record }) => JSON.stringify(record, null, 2)).join('\n'),
    }),
    delete: lazyCommand(
      'delete records; the primary identifier and the time of each deletion are stored as a tombstone',
      () => import('./record-delete.ts'),
    ),
    merge: adminCommand(async () => (await loadMergeActs()).mergeRecords, {
      about: 'merge a record into another one: its identifiers find that one, and who was notified of it is told so',
      args: 'namespace survivor retired',
      options: {
        survivor: { help: 'identifier of the record that stays, as TYPE=VALUE' },
        retired: { help: 'identifier of the record that is merged into it, as TYPE=VALUE' },
        record_type: RECORD_TYPE_OPTION,
      },
      notes: `
The data of the retired record are put aside, its enrolments too, and nothing of them is added to the survivor: send the
enrolments again under the survivor's identifier where they still count. rollcall record unmerge restores them.

${SHELL_HISTORY_NOTE}`,
      examples: ['civil UIN=4103278859 UIN=2215743904'],
      input: ({ survivor, retired }) => ({
        survivor: readIdentifierArgument(survivor, '<survivor>'),
        retired: readIdentifierArgument(retired, '<retired>'),
      }),
      text: ({ notified }) => `the records are merged: ${countWithNoun(notified, 'subscription')} notified`,
    }),
    unmerge: adminCommand(async () => (await loadMergeActs()).unmergeRecords, {
      about: 'take a merge back: the retired record is found again, as it was',
      args: 'namespace retired',
      options: {
        retired: { help: 'identifier of the record that was merged into another, as TYPE=VALUE' },
        record_type: RECORD_TYPE_OPTION,
      },
      notes: `What was written to the survivor since the merge stays with the survivor.\n\n${SHELL_HISTORY_NOTE}`,
      examples: ['civil UIN=2215743904'],
      input: ({ retired }) => ({ retired: readIdentifierArgument(retired, '<retired>') }),
      text: ({ notified }) => `the merge is taken back: ${countWithNoun(notified, 'subscription')} notified`,
    }),
    protect: adminCommand(async () => (await loadProtectionActs()).protectPerson, {
      ...PERSON_ARGUMENTS,
      about: 'hide a person from every participant whose grant does not name the category',
      notes: `Servers follow within a second. A record that the registry gets later is protected too.\n${SHELL_HISTORY_NOTE}`,
      examples: ["civil UIN 4103278859 --category shelter --reason 'Court order 7/2026'"],
      input: identifierOfPerson,
      text: ({ namespace, records, rewritten, withdrawn }) =>
        [
          records === 0
            ? `the person is protected; ${namespace} has no record with this identifier yet`
            : 'the person is protected, and the record is hidden',
          `not found by the person any more: ${countWithNoun(rewritten, 'record')}`,
          `withdrawn: ${countWithNoun(withdrawn, 'notification')}`,
        ].join('\n'),
    }),
    unprotect: adminCommand(async () => (await loadProtectionActs()).unprotectPerson, {
      ...PERSON_ARGUMENTS,
      about: 'lift the protection of a person: it is found again',
      notes: SHELL_HISTORY_NOTE,
      examples: ['civil UIN 4103278859'],
      input: identifierOfPerson,
      text: () => 'the protection is lifted: the person is found again',
    }),
    protected: {
      about: 'show who is protected',
      commands: {
        list: adminCommand(async () => (await loadProtectionActs()).listProtectedPersons, {
          about: 'list the protected persons of a registry',
          args: 'namespace',
          options: { identifiers: { help: 'show who they are, and the reasons: personal data' } },
          examples: ['civil --identifiers'],
          text: (rows, { namespace, identifiers }) => {
            const named = identifiers ? ['identifier_value', 'reason'] : []
            const columns = ['category', 'protected_at', 'records', 'identifier_type', ...named]
            return tableText(columns, rows, `nobody is protected in ${namespace}`)
          },
        }),
      },
    },
  },
}
