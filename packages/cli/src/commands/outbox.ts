/** `rollcall outbox`: shows the rows of the event outbox that could not be published, and tries them again. */

import { adminCommand } from '../admin-command.ts'
import type { CommandGroup } from '../command-tree.ts'
import { countWithNoun, tableText } from '../output.ts'

const loadOutboxActs = () => import('@rollcall/admin/events/outbox')

export const COMMAND_TREE: CommandGroup = {
  about: 'look after the outbox, a table in which existing systems write events',
  commands: {
    show: adminCommand(async () => (await loadOutboxActs()).showOutbox, {
      about: 'show how many rows wait, and the rows that could not be published',
      options: { limit: { default: 50 } },
      examples: [''],
      text: ({ waiting, failed }) => {
        const columns = ['id', 'namespace', 'reg_event_type', 'event_id', 'failed_at', 'failure']
        return `${countWithNoun(waiting, 'row')} to be published\n${tableText(columns, failed, 'no row has failed')}`
      },
    }),
    retry: adminCommand(async () => (await loadOutboxActs()).retryOutbox, {
      about: 'try rows that could not be published again',
      args: '[ids...]',
      examples: [''],
      text: ({ retried }) => `${countWithNoun(retried, 'row')} tried again as soon as a worker comes to it`,
    }),
  },
}
