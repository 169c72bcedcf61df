/** `rollcall deliveries`: lists deliveries with the results of their attempts, and retries, drops or replays them. */
import type { DeliveryChange, showDelivery } from '@rollcall/admin/deliveries/deliveries'
import { adminCommand } from '../admin-command.ts'
import type { CommandGroup, LeafCommand } from '../command-tree.ts'
import { CommandError } from '../failure.ts'
import { namesAndValuesText, tableFormatter, tableText } from '../output.ts'

const loadDeliveryActs = () => import('@rollcall/admin/deliveries/deliveries')

/** Makes a command that changes deliveries. @param done what the output says about the changed deliveries */
const deliveryChangeCommand = (word: DeliveryChange, about: string, done: string): LeafCommand =>
  adminCommand(async () => (await loadDeliveryActs()).changeDeliveries, {
    about,
    args: '[ids...]',
    options: { change: null },
    examples: ['--participant spmis.example.org'],
    deps: async () => ({ possible: (await loadDeliveryActs()).changeableStates(word) }),
    input: (given) => {
      if (Object.keys(given).length > 0) return { change: word }
      throw new CommandError(
        'name the deliveries: by ids, --participant, --since, --until or --state; or add --all for all of them',
      )
    },
    text: ({ changed, in_closed_mailboxes: closed = 0 }, { ids }, { possible }) => {
      const left = new Set(ids).size - changed - closed
      return [
        `${changed} ${changed === 1 ? 'delivery' : 'deliveries'}: ${done}`,
        ...(closed > 0 ? [`${closed} more are in closed mailboxes (rollcall subscriptions resume)`] : []),
        ...(left > 0 ? [`${left} more were named and are not ${possible.join(' or ')}`] : []),
      ].join('; ')
    },
  })

export const COMMAND_TREE: CommandGroup = {
  about: 'list, retry, replay and drop the answers that are sent to participants',
  commands: {
    list: adminCommand(async () => (await loadDeliveryActs()).listDeliveries, {
      about: 'list deliveries, the newest first',
      pages: true,
      examples: ['--state dead --since 2026-07-01'],
      text: tableFormatter(
        'id participant callback page state attempts reason created_at next_attempt_at',
        'no deliveries',
        // A delivery that still waits has no `reason`: the code of its last attempt's failure (`cause.cause`) is shown, if any.
        ({ cause, ...row }) => ({ ...row, reason: row.reason ?? cause?.cause ?? null }),
      ),
    }),
    show: adminCommand(async () => (await loadDeliveryActs()).showDelivery, {
      about: 'show a delivery with every attempt',
      args: 'id',
      examples: ['0b1e6c5a-6f0e-4d0f-9d52-2f0d0c1f7a11'],
      text: deliveryText,
    }),
    retry: deliveryChangeCommand(
      'retry',
      'attempt pending and dead deliveries now, before all others of their destination; their schedules begin again',
      'attempted as soon as a worker comes to them',
    ),
    drop: deliveryChangeCommand('drop', 'stop attempting deliveries that are pending, dead or held', 'dropped'),
    replay: deliveryChangeCommand(
      'replay',
      'send deliveries that are delivered, refused, dead, dropped or held again, with the same message_id',
      'sent again as soon as a worker comes to them',
    ),
  },
}

function deliveryText({ made, body, cause, ...delivery }: Awaited<ReturnType<typeof showDelivery>>): string {
  const columns = ['number', 'at', 'duration_ms', 'status', 'error', ...(body === undefined ? [] : ['answer'])]
  const attempts = tableText(
    columns,
    made.map(({ cause: _, ...attempt }) => ({ ...attempt, answer: attempt.answer ?? null })),
    'no attempts yet',
  )
  const advice = cause === null ? [] : ['', `${cause.meaning} ${cause.advice}`]
  return [namesAndValuesText(delivery), ...advice, '', attempts, ...(body == null ? [] : ['', body])].join('\n')
}
