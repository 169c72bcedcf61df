/** `rollcall participant limits`: how much a participant may ask at once. */
import { changeParticipantLimits } from '@rollcall/admin/participants/limits'
import type { Command } from 'commander'
import { ask } from '../environment.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { limit, wholeNumber } from '../values.ts'

/** A reader of a limit, or of the word for the server's. */
const orDefault =
  (read: (text: string) => number) =>
  (text: string): number | 'default' =>
    text === 'default' ? text : read(text)

export function addLimitsCommand(participant: Command): void {
  withJson(participant.command('limits'))
    .description('show or change how much a participant may ask at once; servers use the change within a second')
    .argument('<sender_id>', 'its sender_id')
    .option(
      '--max-page-size <records>',
      "largest page that it may ask for, in records, or default for the server's limit",
      orDefault(wholeNumber(1)),
    )
    .option(
      '--rate-limit <requests>',
      "requests a second, unlimited, or default for the server's limit",
      orDefault(limit({ whole: false })),
    )
    .option(
      '--concurrency-limit <requests>',
      "requests at a time on one node, unlimited, or default for the server's limit",
      orDefault(limit({ whole: true })),
    )
    .addHelpText('after', '\nExample: rollcall participant limits spmis.example.org --rate-limit 20')
    .action(runLimits)
}

type Limit = number | 'default'

interface Options extends OutputOptions {
  readonly maxPageSize?: Limit
  readonly rateLimit?: Limit
  readonly concurrencyLimit?: Limit
}

const given = (value: Limit | undefined) => (value === 'default' ? null : value)
const endless = (value: Limit | undefined) =>
  value === Number.POSITIVE_INFINITY ? ('unlimited' as const) : given(value)

async function runLimits(sender_id: string, options: Options): Promise<void> {
  stopRequest()
  const { maxPageSize, rateLimit, concurrencyLimit } = options
  const shown = await ask(changeParticipantLimits, {
    sender_id,
    max_page_size: given(maxPageSize),
    rate_limit: endless(rateLimit),
    concurrency_limit: endless(concurrencyLimit),
  })
  const lines = Object.entries(shown).map(([name, value]) => `${name.padEnd(26)}${value ?? '-'}`)
  print(options, shown, lines.join('\n'))
}
