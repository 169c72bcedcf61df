/** `rollcall inbox`: lists and shows the callbacks that other systems sent to us. */

import { adminCommand } from '../admin-command.ts'
import { toPrintableLine } from '../asking/printing.ts'
import type { CommandGroup } from '../command-tree.ts'
import { tableFormatter } from '../output.ts'

const loadInboxActs = () => import('@rollcall/admin/callbacks/inbox')

export const COMMAND_TREE: CommandGroup = {
  about: 'list and show the callbacks that other systems sent to us',
  commands: {
    list: adminCommand(async () => (await loadInboxActs()).listInbox, {
      about: 'list callbacks, the newest first',
      pages: true,
      notes: 'A callback is quarantined when it answers no request that this server knows.',
      examples: ['--callback notify --since 2026-07-01'],
      text: tableFormatter('message_id participant callback registry state status received_at', 'the inbox is empty'),
    }),
    show: adminCommand(async () => (await loadInboxActs()).showInboxMessage, {
      about: 'show a callback',
      args: 'message_id',
      examples: ['m-77 --participant crvs.example.org'],
      text: (shown) =>
        Object.entries(shown)
          .map(([name, value]) => toPrintableLine(`${name}: ${typeof value === 'object' ? JSON.stringify(value) : value}`))
          .join('\n'),
    }),
  },
}
