/** Mailboxes: notifications that wait for a participant, in order. */

import { listMailboxes as listRows } from '@rollcall/delivery/store/events/mailbox-list'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAdminFunction } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, instant, isoTime, Namespace, orNull, SenderId, text, wholeNumber } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'

const MailboxState = oneOf(['open', 'closed'], {
  description: 'closed: nothing could be delivered for too long, and its subscriptions are suspended.',
})

/** Lists mailboxes, the newest first. */
export const listMailboxes = defineAdminFunction(
  {
    input: closed({
      participant: Type.Optional(SenderId),
      namespace: Type.Optional(Namespace),
      state: Type.Optional(MailboxState),
      before: Type.Optional(
        Type.String({
          pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
          description: 'Only those behind this one: for the next page, the last id of this one.',
        }),
      ),
      limit: Type.Optional(wholeNumber('At most so many (default: 50).', 1, 500)),
    }),
    result: Type.Array(
      closed({
        id: text('What its receiver knows it by.'),
        participant: SenderId,
        registry: Namespace,
        state: MailboxState,
        sequence: wholeNumber('Number of its last envelope.'),
        waiting: wholeNumber('Notifications that wait, for their time or for those before them.'),
        oldest_due: orNull(instant('When the first of them is, or was, due.')),
        held_since: orNull(instant('Since when there is no address to send to; null: there is one.')),
        closed_at: orNull(instant('When it was closed.')),
        subscriptions: wholeNumber('Subscriptions that have not ended.'),
        suspended: wholeNumber('Of them, those that are suspended.'),
        delivery: orNull(text('id of the delivery that is to be attempted.')),
      }),
    ),
  },
  async ({ db }: HasDatabase, { participant, namespace, state, before, limit = 50 }) => {
    if (participant !== undefined) await requireParticipant(db, participant)
    const asked = { participant: participant ?? null, registry: namespace ?? null }
    const rows = await listRows(db, { ...asked, state: state ?? null, before: before ?? null }, limit)
    return rows.map(({ id: _, public_id: id, resting_since, oldest_due, closed_at, ...row }) => ({
      ...row,
      id,
      oldest_due: isoTime(oldest_due),
      closed_at: isoTime(closed_at),
      held_since: isoTime(resting_since),
    }))
  },
)
