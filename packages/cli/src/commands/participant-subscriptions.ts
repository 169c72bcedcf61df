/** `rollcall participant subscriptions`: how many subscriptions a participant may have. */
import { changeParticipantSubscriptions } from '@rollcall/admin/participants/subscriptions'
import { type Command, InvalidArgumentError } from 'commander'
import { ask } from '../environment.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { wholeNumber } from '../values.ts'

export function addSubscriptionsCommand(participant: Command): void {
  withJson(participant.command('subscriptions'))
    .description('show or change how many subscriptions a participant may have; servers use the change within a second')
    .argument('<sender_id>', 'its sender_id')
    .option(
      '--max <subscriptions>',
      "subscriptions in all registries that it may have, unlimited, or default for the server's limit",
      most,
    )
    .addHelpText(
      'after',
      `
Subscriptions that it has go on. Its grants say to which events it may subscribe.

Example: rollcall participant subscriptions spmis.example.org --max 500`,
    )
    .action(runSubscriptions)
}

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
  readonly max?: Most
}

async function runSubscriptions(sender_id: string, { max, ...options }: Options): Promise<void> {
  stopRequest()
  const shown = await ask(changeParticipantSubscriptions, {
    sender_id,
    max_subscriptions: max === 'default' ? null : max,
  })
  const lines = Object.entries(shown).map(([name, value]) => `${name.padEnd(26)}${value ?? '-'}`)
  print(options, shown, lines.join('\n'))
}
