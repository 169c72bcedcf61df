/** `rollcall erase`: erases a person from the audit log and from waiting notifications. Records stay. */

import { adminCommand } from '../admin-command.ts'
import type { CommandGroup } from '../command-tree.ts'
import { countWithNoun } from '../output.ts'
import { PERSON_HELP, readPersonArguments } from '../values.ts'

export const COMMAND_TREE: CommandGroup = {
  about: 'erase a person from the audit log and from what waits to be sent',
  commands: {
    person: adminCommand(async () => (await import('@rollcall/admin/persons/erase')).erasePerson, {
      about: 'erase the pseudonyms of a person in the audit log, and withdraw waiting notifications',
      args: 'type [value]',
      options: {
        ...PERSON_HELP,
        reason: { help: 'why, without personal data: a signed tombstone has it for ever' },
        dry_run: { help: 'only count' },
      },
      notes: `
It needs the owner of the database (ROLLCALL_OWNER_DATABASE_URL). Records of the person stay: run rollcall record delete
afterwards, because the records name the other identifiers of the person. A hold of the person stops it.
The identifier may stay in the history of the shell.`,
      examples: ["UIN 8128560370 --reason 'order 12/2026' --dry-run"],
      input: readPersonArguments,
      text: ({ dry_run, identifiers, accounts, outbox = 0, notifications, underway, tombstones, stored_until, records }) => {
        const places = records.map(({ namespace, record_type }) => `${record_type} of ${namespace}`)
        return [
          dry_run ? 'nothing is erased; this would be:' : 'erased:',
          `audit log: ${countWithNoun(accounts.rows, 'pseudonym')} in ${countWithNoun(accounts.entries, 'entry', 'entries')}, of ${countWithNoun(identifiers, 'identifier')}`,
          ...(accounts.held === 0 ? [] : [`audit log: ${accounts.held} pseudonyms stay for a hold`]),
          ...(outbox === 0 ? [] : [`outbox: ${countWithNoun(outbox, 'row')}`]),
          `notifications: ${notifications} waiting ones are withdrawn, ${underway} messages are being sent already`,
          `tombstones of deleted records: ${tombstones}`,
          `stored messages are encrypted by day; the last that may name the person is erased on ${stored_until.slice(0, 10)}`,
          ...(places.length === 0 ? [] : [`records that are still there: ${places.join(', ')}`]),
        ].join('\n')
      },
    }),
  },
}
