/** `rollcall deliveries`: what is sent to participants, how it went, and what can be done by hand. */
import {
  answerContext,
  changeDeliveries,
  createBodies,
  DELIVERY_CHANGES,
  DELIVERY_STATES,
  type DeliveryChoice,
  type DeliveryState,
  deliveryContext,
  findDelivery,
  type ListedAttempt,
  type ListedDelivery,
  listDeliveries,
  openVault,
} from '@rollcall/server'
import { type Command, Option } from 'commander'
import { withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { participantNamed } from '../participants.ts'
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
      .option('--all', 'all deliveries, where no other option selects some')
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
    description:
      'send deliveries that are delivered, refused, dead, dropped or held again, with the same message_id',
  },
] as const satisfies readonly { readonly word: keyof typeof DELIVERY_CHANGES; readonly description: string }[]

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

const choiceOf = ({ participant, since, until, state }: ChoiceOptions): DeliveryChoice => ({
  ...(participant !== undefined && { participant }),
  ...(since !== undefined && { since }),
  ...(until !== undefined && { until }),
  ...(state !== undefined && { state }),
})

async function runList({ limit, ...options }: ListOptions): Promise<void> {
  stopRequest()
  const found = await withDatabase(async ({ db }) => {
    if (options.participant !== undefined) await participantNamed(db, options.participant)
    return listDeliveries(db, choiceOf(options), limit + 1)
  })
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
  print(options, rows.map(timesAsText), table(columns, rows.map(cells), 'no deliveries') + more)
}

const timesAsText = (row: ListedDelivery) => ({
  ...row,
  created_at: row.created_at.toISOString(),
  next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  finished_at: row.finished_at?.toISOString() ?? null,
})

const cells = (row: ListedDelivery) => timesAsText(row)

async function runShow(id: string, { body: withBody, ...options }: ShowOptions): Promise<void> {
  stopRequest()
  const shown = await withDatabase(async ({ db, config }) => {
    const found = await findDelivery(db, id)
    if (found === null)
      throw new CommandError(`there is no delivery ${id}; rollcall deliveries list shows them`)
    const { body, made, ...delivery } = found
    const bodies = withBody ? createBodies(db, await openVault(config, db)) : null
    const open = async (sealed: Buffer | null, place: string): Promise<string | null> => {
      if (bodies === null || sealed === null) return null
      return bodies.openBody(sealed, place).catch((error: Error) => `(${error.message})`)
    }
    const attempts = await Promise.all(
      made.map(async ({ answer, ...attempt }) => ({
        ...attempt,
        at: attempt.at.toISOString(),
        ...(withBody && { answer: await open(answer, answerContext(id, attempt.number)) }),
      })),
    )
    return {
      ...timesAsText(delivery),
      ...(withBody && { body: await open(body, deliveryContext(id)) }),
      made: attempts,
    }
  })
  print(options, shown, text(shown))
}

type Shown = ReturnType<typeof timesAsText> & {
  readonly body?: string | null
  readonly made: readonly (Omit<ListedAttempt, 'at' | 'answer'> & {
    readonly at: string
    readonly answer?: string | null
  })[]
}

function text({ made, body, ...delivery }: Shown): string {
  const lines = Object.entries(delivery).map(([name, value]) => `${name.padEnd(17)}${value ?? '-'}`)
  const columns = [
    'number',
    'at',
    'duration_ms',
    'status',
    'error',
    ...(body === undefined ? [] : ['answer']),
  ]
  const attempts = table(
    columns,
    made.map((attempt) => ({ ...attempt, answer: attempt.answer ?? null })),
    'no attempts yet',
  )
  return [...lines, '', attempts, ...(body == null ? [] : ['', body])].join('\n')
}

async function runChange(
  change: keyof typeof DELIVERY_CHANGES,
  ids: readonly string[],
  { all, ...options }: ChangeOptions,
): Promise<void> {
  stopRequest()
  const choice = { ...choiceOf(options), ...(ids.length > 0 && { ids }) }
  if (Object.keys(choice).length === 0 && !all) {
    throw new CommandError(
      'name the deliveries: by ids, --participant, --since, --until or --state; or add --all for all of them',
    )
  }
  const changed = await withDatabase(async ({ db }) => {
    if (options.participant !== undefined) await participantNamed(db, options.participant)
    return changeDeliveries(db, change, choice)
  })
  const left = new Set(ids).size - changed
  const possible = DELIVERY_CHANGES[change].from.join(' or ')
  if (left > 0 && changed === 0)
    throw new CommandError(`${change} needs deliveries that are ${possible}; none of these is`)
  const done = `${changed} ${changed === 1 ? 'delivery' : 'deliveries'}: ${DONE[change]}`
  print(options, { changed }, left > 0 ? `${done}; ${left} more were named and are not ${possible}` : done)
}

const DONE = {
  retry: 'attempted as soon as a worker comes to them',
  drop: 'dropped',
  replay: 'sent again as soon as a worker comes to them',
} as const satisfies Record<keyof typeof DELIVERY_CHANGES, string>
