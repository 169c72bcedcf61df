/** The inbox: callbacks that other systems sent to us. */

import { inboxBodyBinding } from '@rollcall/engine/store/exchanges/inbox'
import { findInInbox, type InboxEntry, listInbox as listRows } from '@rollcall/engine/store/exchanges/inbox-list'
import { createBodyEncryption } from '@rollcall/keys/bodies'
import { CALLBACKS, oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase, HasVault } from '../deps.ts'
import { closed, dateOf, flag, instant, isoTime, markPersonal, orNull, SenderId, text, wholeNumber } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'

const InboxState = oneOf(['stored', 'quarantined'], { description: 'quarantined: it answers no request that this server knows.' })

const INBOX_ENTRY_MEMBERS = {
  participant: SenderId,
  message_id: text('message_id of the callback.'),
  callback: text('Name of the callback.'),
  registry: orNull(text('Namespace of the registry that it came to; null: that is gone.')),
  correlation_id: orNull(text('correlation_id that it was acknowledged with.')),
  transaction_id: orNull(text('transaction_id of the message.')),
  status: orNull(text('status of its header.')),
  state: InboxState,
  bytes: wholeNumber('Size of the sealed body.'),
  received_at: instant('When it came.'),
} as const

/** Lists messages of the inbox, the newest first. */
export const listInbox = defineAct(
  {
    name: 'inbox list',
    approval: 'never',
    input: closed({
      participant: Type.Optional(SenderId),
      callback: Type.Optional(
        oneOf(
          CALLBACKS.map(({ name }) => name),
          { description: 'Only those of this name.' },
        ),
      ),
      state: Type.Optional(InboxState),
      since: Type.Optional(instant('Only those received at this time or later.')),
      until: Type.Optional(instant('Only those received before this time.')),
      limit: Type.Optional(wholeNumber('At most so many (default: 50).', 1, 10_001)),
    }),
    result: Type.Array(closed(INBOX_ENTRY_MEMBERS)),
  },
  async ({ db }: HasDatabase, { participant, since, until, limit = 50, ...same }) => {
    if (participant !== undefined) await requireParticipant(db, participant)
    const rows = await listRows(db, {
      ...same,
      limit,
      ...(participant !== undefined && { participant }),
      ...(since !== undefined && { since: dateOf(since) }),
      ...(until !== undefined && { until: dateOf(until) }),
    })
    return rows.map(shownInboxEntry)
  },
)

/** Shows one callback; its decrypted body only if asked for. */
export const showInboxMessage = defineAct(
  {
    name: 'inbox show',
    approval: {
      when: 'wider',
      role: 'audit',
      compare: ({ body = false, ...about }) => (body ? { about, wanted: { opens: 'the body of the callback' } } : null),
    },
    entry: 'within',
    input: closed({
      message_id: INBOX_ENTRY_MEMBERS.message_id,
      participant: Type.Optional(SenderId),
      body: Type.Optional(flag('Also show header and message, which may be personal data.')),
    }),
    result: closed({
      ...INBOX_ENTRY_MEMBERS,
      body: Type.Optional(markPersonal(Type.Unknown({ description: 'Header and message in clear.' }))),
    }),
  },
  async ({ db, vault }: HasVault, { message_id, participant, body: withBody = false }, enter) => {
    const [found, ...others] = await findInInbox(db, message_id, participant)
    if (found === undefined) {
      throw new AdminRefusal(`there is no message ${message_id} in the inbox`)
    }
    if (others.length > 0) {
      const senders = [found, ...others].map((entry) => entry.participant).join(', ')
      throw new AdminRefusal(`several participants sent a message ${message_id}: participant must be one of ${senders}`)
    }
    const { body, owner, ...entry } = found
    await enter(withBody ? { note: 'inbox show --body', registry: entry.registry ?? undefined } : undefined)
    if (!withBody) return shownInboxEntry(entry)
    const bodies = createBodyEncryption(db, await vault())
    const opened = await bodies.decryptBody(body, inboxBodyBinding({ participant: owner, message_id }))
    return { ...shownInboxEntry(entry), body: JSON.parse(opened) as unknown }
  },
)

const shownInboxEntry = (entry: InboxEntry) => ({ ...entry, received_at: isoTime(entry.received_at) })
