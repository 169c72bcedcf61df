/** `rollcall hold`: manages holds, which keep data that somebody needs from being deleted. */
import { adminCommand } from '../admin-command.ts'
import type { CommandGroup } from '../command-tree.ts'
import { tableFormatter } from '../output.ts'
import { readTypeAndValue } from '../values.ts'

const loadHoldActs = () => import('@rollcall/admin/persons/holds')

export const COMMAND_TREE: CommandGroup = {
  about: 'keep what somebody needs, such as a court, from prune and erase',
  commands: {
    add: adminCommand(async () => (await loadHoldActs()).addHold, {
      about: 'add a hold of a person, of a participant, or of a period',
      options: {
        person: {
          flags: '--person <identifier>',
          help: 'a person, as TYPE=VALUE; stored as pseudonyms',
          read: (text) => readTypeAndValue(text, '--person'),
        },
      },
      notes: `
A hold of a person covers the audit entries about the person. A hold of a participant or a period covers audit entries and stored
messages; a hold of a participant keeps the keys of all days. The identifier may stay in the history of the shell.`,
      examples: ["--participant spmis.example.org --reason 'case 7/2026'"],
      text: ({ id }) => `hold ${id} is in force`,
    }),
    list: adminCommand(async () => (await loadHoldActs()).listHolds, {
      about: 'list the holds in force',
      examples: [''],
      text: tableFormatter(
        'id kind participant from until reason created_by created_at',
        'no holds; rollcall hold add makes one',
      ),
    }),
    remove: adminCommand(async () => (await loadHoldActs()).removeHold, {
      about: 'end a hold: the next prune deletes what it covered',
      args: 'id',
      examples: ['1'],
      text: ({ id }) => `hold ${id} is not in force any more`,
    }),
  },
}
