/** The deliveries to the participant that is signed in to the partner page: how they went, and sending them again. */

import { explainCauseToParticipant } from '@rollcall/delivery/delivery/causes'
import { changeDeliveries, countDeliveryChange } from '@rollcall/delivery/store/deliveries/delivery-changes'
import { findParticipantDeliveryIds } from '@rollcall/delivery/store/deliveries/own-deliveries'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import {
  type DeliveryState,
  listDeliveries,
  OR_RECORD_DELETED_TEXT,
  readDelivery,
  showDelivery,
  sumCounts,
} from '../deliveries/deliveries.ts'
import { closed, flag, text, wholeNumber } from '../members.ts'
import { ListLimit, type PartnerDeps } from './partner.ts'

const deliveryMembers = listDeliveries.result.items.properties
const attemptMembers = showDelivery.result.properties.made.items.properties

const MessageId = deliveryMembers.message_id
const CauseForParticipant = Type.Union([
  closed({ meaning: text('What happened.'), advice: text('What the owner of the receiving system can do.') }),
  Type.Null(),
])

const PARTNER_DELIVERY_MEMBERS = {
  message_id: MessageId,
  namespace: deliveryMembers.registry,
  callback: deliveryMembers.callback,
  page: deliveryMembers.page,
  correlation_id: deliveryMembers.correlation_id,
  state: deliveryMembers.state,
  attempts: deliveryMembers.attempts,
  target: deliveryMembers.target,
  cause: CauseForParticipant,
  created_at: deliveryMembers.created_at,
  next_attempt_at: deliveryMembers.next_attempt_at,
  finished_at: deliveryMembers.finished_at,
  replayable: flag('Whether it can be sent again from here.'),
} as const

/** The states in which a participant may replay a delivery. `dropped` is not among them: an operator may have cancelled it. */
const REPLAYABLE_STATES = ['delivered', 'refused', 'dead', 'held'] as const satisfies readonly DeliveryState[]

type DeliveryRow = Awaited<ReturnType<typeof listDeliveries>>[number]

const shownOwnDelivery = (row: DeliveryRow) => ({
  message_id: row.message_id,
  namespace: row.registry,
  callback: row.callback,
  page: row.page,
  correlation_id: row.correlation_id,
  state: row.state,
  attempts: row.attempts,
  target: row.target,
  cause: explainCauseToParticipant(row.reason ?? row.cause?.cause ?? null),
  created_at: row.created_at,
  next_attempt_at: row.next_attempt_at,
  finished_at: row.finished_at,
  replayable: REPLAYABLE_STATES.some((state) => state === row.state),
})

export const listOwnDeliveries = defineAdminFunction(
  {
    input: closed({
      state: Type.Optional(deliveryMembers.state),
      before: Type.Optional(text('message_id of one: only those behind it.')),
      limit: ListLimit,
    }),
    result: Type.Array(closed(PARTNER_DELIVERY_MEMBERS)),
  },
  async (deps: PartnerDeps, { state, before: last, limit = 50 }) => {
    const before = last === undefined ? undefined : await requireOwnDeliveryId(deps, last, 'before')
    const choice = { participant: deps.sender_id, state, before, limit }
    return (await listDeliveries({ db: deps.db }, choice)).map(shownOwnDelivery)
  },
)

export const showOwnDelivery = defineAdminFunction(
  {
    input: closed({ message_id: MessageId }),
    result: closed({
      ...PARTNER_DELIVERY_MEMBERS,
      made: Type.Array(
        closed({
          number: attemptMembers.number,
          at: attemptMembers.at,
          duration_ms: attemptMembers.duration_ms,
          status: attemptMembers.status,
          cause: CauseForParticipant,
        }),
      ),
    }),
  },
  async (deps: PartnerDeps, { message_id }) => {
    const id = await requireOwnDeliveryId(deps, message_id)
    const { made, ...delivery } = await readDelivery(deps.db, id, null)
    return {
      ...shownOwnDelivery(delivery),
      made: made.map(({ number, at, duration_ms, status, error }) => ({
        number,
        at,
        duration_ms,
        status,
        cause: explainCauseToParticipant(error),
      })),
    }
  },
)

/** Returns the id of an own delivery. @throws AdminRefusal this participant has no such delivery */
async function requireOwnDeliveryId({ db, sender_id }: PartnerDeps, message_id: string, member = 'message_id'): Promise<string> {
  const [id] = await findParticipantDeliveryIds(db, sender_id, [message_id])
  if (id !== undefined) return id
  throw new AdminRefusal(`${member}: there is no such delivery`, { reason: 'not_found' })
}

/** The most deliveries that one call sends again. */
const MOST_REPLAYED_AT_ONCE = 100

/** Sends deliveries to the participant again. A message of another participant is treated like one that does not exist. */
export const replayOwnDeliveries = defineAct(
  {
    name: 'partner replay',
    approval: 'never',
    entry: 'within',
    input: closed({
      message_ids: Type.Array(Type.String(), {
        minItems: 1,
        maxItems: MOST_REPLAYED_AT_ONCE,
        description: 'message_ids of the deliveries.',
      }),
    }),
    result: closed({
      deliveries: wholeNumber('Deliveries that are sent again.'),
      in_closed_mailboxes: wholeNumber('Notifications that are left as they are, because their mailbox is closed.'),
    }),
  },
  async ({ db, sender_id, mayReplay }: PartnerDeps, { message_ids }, enter) => {
    mayReplay(message_ids.length)
    const ids = await findParticipantDeliveryIds(db, sender_id, message_ids)
    const choice = { participant: sender_id, ids, states: REPLAYABLE_STATES }
    const counted = await countDeliveryChange(db, 'replay', choice)
    const in_closed_mailboxes = sumCounts(counted, 'in_closed_mailboxes')
    const count = sumCounts(counted, 'deliveries')
    if (count > 0) {
      await enter({ count })
      // An open circuit breaker stays open: only an operator may have the breaker's destination tried before `probe_at`.
      const deliveries = await changeDeliveries(db, 'replay', choice, { probes: false })
      return { deliveries, in_closed_mailboxes }
    }
    throw new AdminRefusal(
      in_closed_mailboxes > 0
        ? 'their mailboxes are closed: ask the operator to resume the subscriptions'
        : `message_ids: only deliveries that are ${REPLAYABLE_STATES.join(' or ')} are sent again; none of these is${OR_RECORD_DELETED_TEXT}`,
      { reason: 'conflict' },
    )
  },
)
