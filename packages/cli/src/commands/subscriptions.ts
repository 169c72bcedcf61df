/** `rollcall subscriptions`: to which events participants have subscribed. */
import {
  cancelSubscription,
  listSubscriptions,
  SUBSCRIPTION_STATES,
  showSubscription,
} from '@rollcall/admin/events/subscriptions'
import { type Command, Option } from 'commander'
import { ask } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { wholeNumber } from '../values.ts'
import { addMailboxCommands } from './subscription-mailbox.ts'

export function addCommand(program: Command): void {
  const subscriptions = program
    .command('subscriptions')
    .description('list, show, cancel, test, backfill and resume the subscriptions of participants')
  withJson(subscriptions.command('list'))
    .description('list subscriptions, the newest first')
    .option('--participant <sender_id>', 'only those of this participant')
    .option('--namespace <namespace>', 'only those in this registry')
    .addOption(new Option('--state <state>', 'only those in this state').choices(SUBSCRIPTION_STATES))
    .option('--limit <subscriptions>', 'list at most this many subscriptions', wholeNumber(1, 10_000), 50)
    .addHelpText('after', '\nExample: rollcall subscriptions list --namespace crvs --state suspended')
    .action(runList)
  withJson(subscriptions.command('show'))
    .description('show a subscription')
    .argument('<code>', 'code of the subscription')
    .option('--criteria', 'also print its criteria, whose filter may be personal data')
    .addHelpText('after', '\nExample: rollcall subscriptions show SUB-7Q2M4T9XK3B8D5HV6NWPJ0RC')
    .action(runShow)
  withJson(subscriptions.command('cancel'))
    .description('end a subscription: it matches nothing more, and what waits for it is not sent')
    .argument('<code>', 'code of the subscription')
    .addHelpText('after', '\nExample: rollcall subscriptions cancel SUB-7Q2M4T9XK3B8D5HV6NWPJ0RC')
    .action(runCancel)
  addMailboxCommands(subscriptions)
}

interface ListOptions extends OutputOptions {
  readonly participant?: string
  readonly namespace?: string
  readonly state?: (typeof SUBSCRIPTION_STATES)[number]
  readonly limit: number
}

const COLUMNS = [
  ...['code', 'participant', 'namespace', 'event_type', 'record_type', 'state', 'reason', 'cron', 'end_at'],
  'created_at',
]

async function runList({ participant, namespace, state, limit, ...options }: ListOptions): Promise<void> {
  stopRequest()
  const found = await ask(listSubscriptions, { participant, namespace, state, limit: limit + 1 })
  const rows = found.slice(0, limit)
  const more = found.length > limit ? '\nthere are more; --limit shows them' : ''
  print(options, rows, table(COLUMNS, rows, 'no subscriptions') + more)
}

async function runShow(
  code: string,
  { criteria, ...options }: OutputOptions & { readonly criteria?: true },
): Promise<void> {
  stopRequest()
  const shown = await ask(showSubscription, { code, criteria })
  print(options, shown, text(shown))
}

async function runCancel(code: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const cancelled = await ask(cancelSubscription, { code })
  print(options, cancelled, `${code} is cancelled`)
}

function text({ criteria, ...subscription }: Awaited<ReturnType<typeof showSubscription>>): string {
  const lines = Object.entries(subscription).map(([name, value]) => `${name.padEnd(16)}${value ?? '-'}`)
  return [...lines, ...(criteria === undefined ? [] : ['', JSON.stringify(criteria, null, 2)])].join('\n')
}
