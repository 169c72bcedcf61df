/** `rollcall subscriptions test|backfill|resume`: the mailbox of a subscription is tried out, filled, and opened again. */
import { backfillSubscription, resumeSubscription, testSubscription } from '@rollcall/admin/events/subscription-mailbox'
import type { Command } from 'commander'
import { ask, withDatabase } from '../environment.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { trialRecords } from '../synthetic-people.ts'

export function addMailboxCommands(subscriptions: Command): void {
  withJson(subscriptions.command('test'))
    .description('send one notification with a synthetic record, marked header.meta.test')
    .argument('<code>', 'code of the subscription')
    .addHelpText('after', '\nExample: rollcall subscriptions test SUB-7Q2M4T9XK3B8D5HV6NWPJ0RC')
    .action(async (code: string, options: OutputOptions) => {
      stopRequest()
      const shown = await withDatabase(({ db }) => testSubscription({ db, samples: trialRecords }, { code }))
      print(options, shown, `a test waits in the mailbox of ${code}; rollcall deliveries list shows it`)
    })
  withJson(subscriptions.command('backfill'))
    .description('send every record that matches now, behind live events; called again it goes on')
    .argument('<code>', 'code of the subscription')
    .option('--since <time>', 'only records that were written at this time or later')
    .addHelpText(
      'after',
      '\nExample: rollcall subscriptions backfill SUB-7Q2M4T9XK3B8D5HV6NWPJ0RC --since 2026-01-01T00:00:00Z',
    )
    .action(async (code: string, { since, ...options }: OutputOptions & { readonly since?: string }) => {
      stopRequest()
      const shown = await ask(backfillSubscription, { code, since })
      print(options, shown, `${shown.queued} records wait in the mailbox of ${code}`)
    })
  withJson(subscriptions.command('resume'))
    .description('open a suspended subscription again with its mailbox')
    .argument('<code>', 'code of the subscription')
    .addHelpText('after', '\nExample: rollcall subscriptions resume SUB-7Q2M4T9XK3B8D5HV6NWPJ0RC')
    .action(async (code: string, options: OutputOptions) => {
      stopRequest()
      const shown = await ask(resumeSubscription, { code })
      print(options, shown, `${code} is live; what waits in its mailbox is sent`)
    })
}
