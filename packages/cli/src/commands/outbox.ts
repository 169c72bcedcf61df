/** `rollcall outbox`: rows that existing systems wrote and that could not be published. */
import { retryOutbox, showOutbox } from '@rollcall/admin/events/outbox'
import type { Command } from 'commander'
import { counted } from '../asking/summary.ts'
import { ask } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { wholeNumber } from '../values.ts'

export function addCommand(program: Command): void {
  const outbox = program
    .command('outbox')
    .description('look after the outbox, a table in which existing systems write events')
  withJson(outbox.command('show'))
    .description('show how many rows wait, and the rows that could not be published')
    .option('--limit <rows>', 'list at most this many rows', wholeNumber(1, 1_000), 50)
    .addHelpText('after', '\nExample: rollcall outbox show')
    .action(runShow)
  withJson(outbox.command('retry'))
    .description('try rows that could not be published again')
    .argument('[id...]', 'ids of the rows (default: all of them)')
    .addHelpText('after', '\nExample: rollcall outbox retry')
    .action(runRetry)
}

async function runShow({ limit, ...options }: OutputOptions & { readonly limit: number }): Promise<void> {
  stopRequest()
  const found = await ask(showOutbox, { limit })
  const columns = ['id', 'namespace', 'reg_event_type', 'event_id', 'failed_at', 'failure']
  const text = table(columns, found.failed, 'no row has failed')
  print(options, found, `${counted(found.waiting, 'row')} to be published\n${text}`)
}

async function runRetry(ids: readonly string[], options: OutputOptions): Promise<void> {
  stopRequest()
  const result = await ask(retryOutbox, { ids: ids.length > 0 ? ids : undefined })
  print(options, result, `${counted(result.retried, 'row')} tried again as soon as a worker comes to it`)
}
