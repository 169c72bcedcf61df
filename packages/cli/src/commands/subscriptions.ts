/** `rollcall subscriptions`: manages the subscriptions of participants, and their mailboxes. */
import { adminCommand } from '../admin-command.ts'
import type { CommandGroup } from '../command-tree.ts'
import { namesAndValuesText, tableFormatter } from '../output.ts'

const loadSubscriptionActs = () => import('@rollcall/admin/events/subscriptions')
const loadMailboxActs = () => import('@rollcall/admin/events/subscription-mailbox')

const EXAMPLE_CODE = 'SUB-7Q2M4T9XK3B8D5HV6NWPJ0RC'

export const COMMAND_TREE: CommandGroup = {
  about: 'list, show, cancel, test, backfill and resume the subscriptions of participants',
  commands: {
    list: adminCommand(async () => (await loadSubscriptionActs()).listSubscriptions, {
      about: 'list subscriptions, the newest first',
      pages: true,
      examples: ['--namespace crvs --state suspended'],
      text: tableFormatter(
        'code participant namespace event_type record_type state reason cron end_at created_at',
        'no subscriptions',
      ),
    }),
    show: adminCommand(async () => (await loadSubscriptionActs()).showSubscription, {
      about: 'show a subscription',
      args: 'code',
      examples: [EXAMPLE_CODE],
      text: ({ criteria, ...subscription }) =>
        `${namesAndValuesText(subscription)}${criteria === undefined ? '' : `\n\n${JSON.stringify(criteria, null, 2)}`}`,
    }),
    cancel: adminCommand(async () => (await loadSubscriptionActs()).cancelSubscription, {
      about: 'end a subscription: it matches nothing more, and what waits for it is not sent',
      args: 'code',
      examples: [EXAMPLE_CODE],
      text: ({ code }) => `${code} is cancelled`,
    }),
    test: adminCommand(async () => (await loadMailboxActs()).testSubscription, {
      about: 'send one notification with a synthetic record, marked header.meta.test',
      args: 'code',
      examples: [EXAMPLE_CODE],
      deps: async () => ({ samples: (await import('../synthetic-people.ts')).makeSampleRecords }),
      text: ({ code }) => `a test waits in the mailbox of ${code}; rollcall deliveries list shows it`,
    }),
    backfill: adminCommand(async () => (await loadMailboxActs()).backfillSubscription, {
      about: 'send every record that matches now, behind live events; called again it goes on',
      args: 'code',
      examples: [`${EXAMPLE_CODE} --since 2026-01-01T00:00:00Z`],
      text: ({ code, queued }) => `${queued} records wait in the mailbox of ${code}`,
    }),
    resume: adminCommand(async () => (await loadMailboxActs()).resumeSubscription, {
      about: 'open a suspended subscription again with its mailbox',
      args: 'code',
      examples: [EXAMPLE_CODE],
      text: ({ code }) => `${code} is live; what waits in its mailbox is sent`,
    }),
  },
}
