/** `rollcall trace`: shows the life of a message, from its arrival to the last attempt at its answer. */
import { MOST_TRACED_DELIVERIES, traceMessages } from '@rollcall/admin/messages/trace'
import type { Command } from 'commander'
import { callWithDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { tracedMessageText } from '../tracing/story-text.ts'
import { wholeNumberReader } from '../values.ts'

export function addCommand(program: Command): void {
  withJsonOption(program.command('trace'))
    .description('print what happened to a message: received, processed, answered, and every attempt to deliver it')
    .argument(
      '<id>',
      'a transaction_id, a correlation_id, a message_id of theirs or ours, a reference_id of a notification, or the code of a subscription',
    )
    .option('--limit <number>', 'print at most this many messages', wholeNumberReader(1, 1_000), 20)
    .option('--full', `show all items and deliveries of each, not only the first ${MOST_TRACED_DELIVERIES}`)
    .addHelpText(
      'after',
      `
If several messages have this id, all are printed, the oldest first. The content of requests and answers is not
printed, and addresses are printed without their paths. --json prints a list of the messages, each with its events.
For the code of a subscription, the requests that made and ended it are printed, then its notifications, the newest first.

Exit codes: 0 found, 1 no stored message has this id.

Example: rollcall trace 5f0c2b7e-0d52-4c6e-9a54-30c1f2d9a002`,
    )
    .action(runTrace)
}

interface TraceOptions extends OutputOptions {
  readonly limit: number
  readonly full?: true
}

async function runTrace(id: string, { limit, full, ...options }: TraceOptions): Promise<void> {
  listenForStop()
  const found = await callWithDatabase(traceMessages, { id, limit: limit + 1, full })
  if (found.length === 0)
    throw new CommandError('there is no message with this id; the oldest are deleted after ROLLCALL_EXCHANGE_RETENTION seconds')
  const shown = found.slice(0, limit)
  const more = found.length > limit ? '\n\nthere are more; --limit shows them' : ''
  printResult(options, shown, shown.map(tracedMessageText).join('\n\n') + more)
}
