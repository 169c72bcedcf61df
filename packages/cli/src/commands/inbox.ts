/** `rollcall inbox`: the callbacks that other systems sent to us. */

import { listInbox, showInboxMessage } from '@rollcall/admin/callbacks/inbox'
import { CALLBACKS } from '@rollcall/protocol'
import { type Command, Option } from 'commander'
import { printable } from '../asking/printing.ts'
import { ask } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { instant, wholeNumber } from '../values.ts'

export function addCommand(program: Command): void {
  const inbox = program.command('inbox').description('list and show the callbacks that other systems sent to us')
  withJson(inbox.command('list'))
    .description('list callbacks, the newest first')
    .option('--participant <sender_id>', 'only those of this participant')
    .addOption(new Option('--callback <name>', 'only those of this name').choices(CALLBACKS.map(({ name }) => name)))
    .addOption(new Option('--state <state>', 'only those in this state').choices(['stored', 'quarantined']))
    .option('--since <time>', 'only those received at this time or later', instant)
    .option('--until <time>', 'only those received before this time', instant)
    .option('--limit <messages>', 'list at most this many callbacks', wholeNumber(1, 10_000), 50)
    .addHelpText(
      'after',
      `
A callback is quarantined when it answers no request that this server knows.

Example: rollcall inbox list --callback notify --since 2026-07-01`,
    )
    .action(runList)
  withJson(inbox.command('show'))
    .description('show a callback')
    .argument('<message_id>', 'message_id of the callback')
    .option('--participant <sender_id>', 'sender_id of its sender, if several senders used the same message_id')
    .option('--body', 'also print header and message, which may be personal data')
    .addHelpText('after', '\nExample: rollcall inbox show m-77 --participant crvs.example.org')
    .action(runShow)
}

interface ListOptions extends OutputOptions {
  readonly participant?: string
  readonly callback?: string
  readonly state?: 'stored' | 'quarantined'
  readonly since?: Date
  readonly until?: Date
  readonly limit: number
}

interface ShowOptions extends OutputOptions {
  readonly participant?: string
  readonly body?: true
}

async function runList({ limit, json = false, since, until, ...filter }: ListOptions): Promise<void> {
  stopRequest()
  const times = { since: since?.toISOString(), until: until?.toISOString() }
  const found = await ask(listInbox, { ...filter, ...times, limit: limit + 1 })
  const rows = found.slice(0, limit)
  const columns = ['message_id', 'participant', 'callback', 'registry', 'state', 'status', 'received_at']
  const more = found.length > limit ? '\nthere are more; --limit shows them' : ''
  print({ json }, rows, table(columns, rows, 'the inbox is empty') + more)
}

async function runShow(message_id: string, { participant, body, ...options }: ShowOptions): Promise<void> {
  stopRequest()
  const shown = await ask(showInboxMessage, { message_id, participant, body })
  print(options, shown, lines(shown))
}

const lines = (shown: object): string =>
  Object.entries(shown)
    .map(([name, value]) => printable(`${name}: ${typeof value === 'object' ? JSON.stringify(value) : value}`))
    .join('\n')
