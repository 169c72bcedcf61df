/** `rollcall deliveries`: what is sent to participants, how it went, and what can be done by hand. */
import {
  changeableStates,
  changeDeliveries,
  DELIVERY_STATES,
  type DeliveryChange,
  type DeliveryState,
  listDeliveries,
  showDelivery,
} from '@rollcall/admin/deliveries/deliveries'
import { type Command, Option } from 'commander'
import { ask, withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { instant, wholeNumber } from '../values.ts'

export function addCommand(program: Command): void {
  const deliveries = program
    .command('deliveries')
    .description('list, retry, replay and drop the answers that are sent to participants')
  withChoice(withJson(deliveries.command('list')))
    .description('list deliveries, the newest first')
    .option('--limit <deliveries>', 'list at most this many deliveries', wholeNumber(1, 10_000), 50)
    .addHelpText('after', '\nExample: rollcall deliveries list --state dead --since 2026-07-01')
    .action(runList)
  withJson(deliveries.command('show'))
    .description('show a delivery with every attempt')
    .argument('<id>', 'id of the delivery')
    .option('--body', 'also print the message and the beginning of each answer, which may be personal data')
    .addHelpText('after', '\nExample: rollcall deliveries show 0b1e6c5a-6f0e-4d0f-9d52-2f0d0c1f7a11')
    .action(runShow)
  for (const { word, description } of CHANGES) {
    withChoice(withJson(deliveries.command(word)))
      .description(description)
      .argument('[id...]', 'ids of the deliveries')
      .option('--all', 'all deliveries, if no other option selects any')
      .addHelpText('after', `\nExample: rollcall deliveries ${word} --participant spmis.example.org`)
      .action((ids: readonly string[], options: ChangeOptions) => runChange(word, ids, options))
  }
}

const CHANGES = [
  {
    word: 'retry',
    description:
      'attempt pending and dead deliveries now, before all others of their destination; their schedules begin again',
  },
  { word: 'drop', description: 'stop attempting deliveries that are pending, dead or held' },
  {
    word: 'replay',
    description: 'send deliveries that are delivered, refused, dead, dropped or held again, with the same message_id',
  },
] as const satisfies readonly { readonly word: DeliveryChange; readonly description: string }[]

interface ChoiceOptions extends OutputOptions {
  readonly participant?: string
  readonly since?: Date
  readonly until?: Date
  readonly state?: DeliveryState
}

interface ListOptions extends ChoiceOptions {
  readonly limit: number
}

interface ShowOptions extends OutputOptions {
  readonly body?: true
}

interface ChangeOptions extends ChoiceOptions {
  readonly all?: true
}

function withChoice(command: Command): Command {
  return command
    .option('--participant <sender_id>', 'only those of this participant')
    .option('--since <time>', 'only those made at this time or later', instant)
    .option('--until <time>', 'only those made before this time', instant)
    .addOption(new Option('--state <state>', 'only those in this state').choices(DELIVERY_STATES))
}

const choiceOf = ({ participant, since, until, state }: ChoiceOptions) => ({
  participant,
  state,
  since: since?.toISOString(),
  until: until?.toISOString(),
})

async function runList({ limit, ...options }: ListOptions): Promise<void> {
  stopRequest()
  const found = await ask(listDeliveries, { ...choiceOf(options), limit: limit + 1 })
  const rows = found.slice(0, limit)
  const columns = [
    'id',
    'participant',
    'callback',
    'page',
    'state',
    'attempts',
    'reason',
    'created_at',
    'next_attempt_at',
  ]
  const more = found.length > limit ? `\nthere are more; --limit shows them` : ''
  // One that waits has no reason of its own: its last attempt has one.
  const cells = rows.map(({ cause, ...row }) => ({ ...row, reason: row.reason ?? cause?.cause ?? null }))
  print(options, rows, table(columns, cells, 'no deliveries') + more)
}

async function runShow(id: string, { body, ...options }: ShowOptions): Promise<void> {
  stopRequest()
  const shown = await ask(showDelivery, { id, body })
  print(options, shown, text(shown))
}

function text({ made, body, cause, ...delivery }: Awaited<ReturnType<typeof showDelivery>>): string {
  const lines = Object.entries(delivery).map(([name, value]) => `${name.padEnd(17)}${value ?? '-'}`)
  const columns = ['number', 'at', 'duration_ms', 'status', 'error', ...(body === undefined ? [] : ['answer'])]
  const attempts = table(
    columns,
    made.map(({ cause: _, ...attempt }) => ({ ...attempt, answer: attempt.answer ?? null })),
    'no attempts yet',
  )
  const advice = cause === null ? [] : ['', `${cause.meaning} ${cause.advice}`]
  return [...lines, ...advice, '', attempts, ...(body == null ? [] : ['', body])].join('\n')
}

async function runChange(
  change: DeliveryChange,
  ids: readonly string[],
  { all, ...options }: ChangeOptions,
): Promise<void> {
  stopRequest()
  const { participant, since, until, state } = options
  if (!all && ids.length === 0 && [participant, since, until, state].every((choice) => choice === undefined)) {
    throw new CommandError(
      'name the deliveries: by ids, --participant, --since, --until or --state; or add --all for all of them',
    )
  }
  const named = ids.length > 0 ? { ids } : {}
  const input = { change, ...choiceOf(options), ...named, all }
  const result = await withDatabase(({ config: { limits }, ...needs }) => changeDeliveries({ ...needs, limits }, input))
  const { changed, in_closed_mailboxes: closed = 0 } = result
  const left = new Set(ids).size - changed - closed
  const done = `${changed} ${changed === 1 ? 'delivery' : 'deliveries'}: ${DONE[change]}`
  const possible = changeableStates(change).join(' or ')
  const others = [
    ...(closed > 0 ? [`${closed} more are in closed mailboxes (rollcall subscriptions resume)`] : []),
    ...(left > 0 ? [`${left} more were named and are not ${possible}`] : []),
  ]
  print(options, result, [done, ...others].join('; '))
}

const DONE = {
  retry: 'attempted as soon as a worker comes to them',
  drop: 'dropped',
  replay: 'sent again as soon as a worker comes to them',
} as const satisfies Record<DeliveryChange, string>
