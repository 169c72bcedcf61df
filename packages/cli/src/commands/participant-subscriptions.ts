/** `rollcall participant subscriptions`: which subscriptions a participant may have, and how many. */
import { changeParticipantSubscriptions } from '@rollcall/server/admin/participant-subscriptions'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { ask } from '../environment.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { wholeNumber } from '../values.ts'

export function addSubscriptionsCommand(participant: Command): void {
  withJson(participant.command('subscriptions'))
    .description(
      'show or change which subscriptions a participant may have; servers use the change within a second',
    )
    .argument('<sender_id>', 'its sender_id')
    .addOption(
      new Option(
        '--unfiltered <right>',
        'whether it may subscribe without a filter, to every record',
      ).choices(RIGHTS),
    )
    .option(
      '--max <subscriptions>',
      "subscriptions in all registries that it may have, unlimited, or default for the server's limit",
      most,
    )
    .addHelpText(
      'after',
      `
Subscriptions that it has go on. Without the right it cannot end those without a filter by itself: see
rollcall subscriptions cancel.

Example: rollcall participant subscriptions spmis.example.org --unfiltered allowed --max 500`,
    )
    .action(runSubscriptions)
}

const RIGHTS = ['allowed', 'refused'] as const

type Most = number | 'unlimited' | 'default'

const number = wholeNumber(0)

function most(text: string): Most {
  if (text === 'unlimited' || text === 'default') return text
  try {
    return number(text)
  } catch {
    throw new InvalidArgumentError('It must be a whole number, unlimited or default.')
  }
}

interface Options extends OutputOptions {
  readonly unfiltered?: (typeof RIGHTS)[number]
  readonly max?: Most
}

async function runSubscriptions(sender_id: string, { unfiltered, max, ...options }: Options): Promise<void> {
  stopRequest()
  const shown = await ask(changeParticipantSubscriptions, {
    sender_id,
    unfiltered_subscriptions: unfiltered === undefined ? undefined : unfiltered === 'allowed',
    max_subscriptions: max === 'default' ? null : max,
  })
  const lines = Object.entries(shown).map(([name, value]) => `${name.padEnd(26)}${value ?? '-'}`)
  print(options, shown, lines.join('\n'))
}
