/** Lists messages for operators, found by one of their ids, or by sender, operation, time and outcome. */

import { type AuditedMessage, findAuditedMessages, MESSAGE_OUTCOMES } from '@rollcall/audit/store/message-entries'
import { DELIVERY_STATES } from '@rollcall/delivery/store/deliveries/delivery-choice'
import { findDeliveryStates } from '@rollcall/delivery/store/deliveries/delivery-counts'
import { findAuditedMessageIds, MESSAGE_ID_NAMES } from '@rollcall/engine/store/exchanges/message-keys'
import { isTimestamp, oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import { EntryId, type HasSearchedEntriesLimit, requireEntryBeforePage } from '../audit/facts.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, dateOf, instant, isoTime, Namespace, orNull, SenderId, text, wholeNumber } from '../members.ts'

/** The kinds of audit entries that are listed as messages. */
const MESSAGE_KINDS = ['answer', 'acknowledgement', 'callback', 'notification'] as const

const IdFilter = (description: string) => Type.Optional(text(description))

const ListedMessage = closed({
  id: EntryId,
  at: instant('The time of its audit entry, which is before it was answered or sent.'),
  kind: oneOf(MESSAGE_KINDS, {
    description:
      'answer: of a synchronous request; acknowledgement: of an asynchronous one; callback: a page of its answer; notification: an envelope of events.',
  }),
  message_id: orNull(
    text('Of the request; of a callback or a notification its own. A digest if it is longer than 255 characters.'),
  ),
  participant: orNull(SenderId),
  registry: orNull(Namespace),
  operation: orNull(text('Name of the operation.')),
  correlation_id: orNull(Type.String()),
  transaction_id: orNull(Type.String()),
  outcome: oneOf(MESSAGE_OUTCOMES, {
    description: 'accepted: to be answered later; partial: some items succeeded; rejected: none did.',
  }),
  outcomes: Type.Record(Type.String(), Type.Integer(), { description: 'Items by how they ended.' }),
  records: wholeNumber('Records that left.'),
  delivery: orNull(
    oneOf(DELIVERY_STATES, {
      description:
        'State of the delivery of a callback or a notification (docs/deliveries.md). null: nothing is delivered, or its delivery is not stored any more.',
    }),
  ),
})

/** Lists messages, the newest first. A request that is answered later has an acknowledgement, and a callback for each page. */
export const listMessages = defineAct(
  {
    name: 'messages list',
    approval: 'never',
    input: closed({
      message_id: IdFilter('Only those of this message, a request or one of ours.'),
      transaction_id: IdFilter('Only those of this transaction.'),
      correlation_id: IdFilter('Only those of this exchange.'),
      reference_id: IdFilter('Only those of asynchronous requests and notifications with this item.'),
      participant: Type.Optional(text('Only those of this sender_id.')),
      namespace: Type.Optional(Namespace),
      operation: Type.Optional(text('Only those of this operation.')),
      outcome: Type.Optional(
        oneOf(
          MESSAGE_OUTCOMES.filter((name) => name !== 'refused'),
          { description: 'Only those that ended so.' },
        ),
      ),
      since: Type.Optional(instant('Only those of this time or later.')),
      until: Type.Optional(instant('Only those before this time.')),
      before: Type.Optional(text('Only those behind this one: for the next page, `next` of this one.')),
      limit: Type.Optional(wholeNumber('At most so many (default: 50).', 1, 500)),
    }),
    result: closed({
      messages: Type.Array(ListedMessage),
      next: orNull(text('`before` of the next page, which may have messages although this one has none; null: there is none.')),
      searched_to: orNull(
        instant(
          'What is older was not looked through, because one call looks through 100,000 entries at most: the next page goes on there. null: everything was, or the page is full.',
        ),
      ),
    }),
  },
  async ({ db, limits }: HasDatabase & HasSearchedEntriesLimit, { namespace, since, until, before, limit = 50, ...given }) => {
    const { message_id, transaction_id, correlation_id, reference_id, ...filter } = given
    const asked = { message_id, transaction_id, correlation_id, reference_id }
    const [name, second] = MESSAGE_ID_NAMES.filter((one) => asked[one] !== undefined)
    if (second !== undefined) throw new AdminRefusal(`${second}: give one of ${MESSAGE_ID_NAMES.join(', ')} at most`)
    const keys = name === undefined ? undefined : await findAuditedMessageIds(db, name, asked[name] ?? '')
    const { place, time } = await readPageStart(db, before)
    const ends = [until, time].flatMap((end) => (end === undefined ? [] : [dateOf(end).getTime()]))
    const { found, rest } = await findAuditedMessages(
      db,
      {
        ...filter,
        registry: namespace,
        keys,
        before: place,
        from: since === undefined ? undefined : dateOf(since),
        to: ends.length === 0 ? undefined : new Date(Math.min(...ends)),
      },
      { limit: limit + 1, most: limits?.searched_entries },
    )
    const page = found.slice(0, limit)
    const sent = page.flatMap(({ reply_message_id: id }) => (id === null ? [] : [id]))
    const states = await findDeliveryStates(db, sent)
    const messages = page.map((message) => ({
      ...messageFacts(message),
      delivery: states.get(message.reply_message_id ?? '') ?? null,
    }))
    const searched_to = rest === null ? null : isoTime(rest)
    return { messages, next: found.length > limit ? (messages.at(-1)?.id ?? null) : searched_to, searched_to }
  },
)

/** Reads where a page begins: after the entry `before`, or at the time `before`, where the previous call's search ended. */
async function readPageStart(db: HasDatabase['db'], before: string | undefined) {
  const isTime = before !== undefined && TIME_FORM.test(before) && isTimestamp(before)
  return { place: await requireEntryBeforePage(db, isTime ? undefined : before), time: isTime ? before : undefined }
}

/** The form in which this server writes times: ISO 8601 in UTC, with milliseconds. */
const TIME_FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

function messageFacts({ chain, sequence, at, entry, message_id, reply_message_id, outcome }: AuditedMessage) {
  const { kind, participant, registry, operation, correlation_id, transaction_id, outcomes, records } = entry
  return {
    id: `${chain}.${sequence}`,
    at: isoTime(at),
    kind: kind as (typeof MESSAGE_KINDS)[number],
    message_id: message_id ?? reply_message_id,
    participant,
    registry,
    operation,
    correlation_id,
    transaction_id,
    outcome,
    outcomes,
    records,
  }
}
