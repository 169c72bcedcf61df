/** The number of subscriptions that a participant may have. */

import { changeParticipant } from '@rollcall/participants/store/participants'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, limitJson, readLimit, SenderId, UNLIMITED, wholeNumber } from '../members.ts'
import { requireParticipant } from './participants.ts'

export const MaxSubscriptions = Type.Union([
  wholeNumber('Subscriptions in all registries that it may have.'),
  Type.Literal(UNLIMITED),
  Type.Null({ description: "The server's limit." }),
])
const LIMIT_SETTINGS = { max_subscriptions: MaxSubscriptions } as const

/** Changes how many subscriptions a participant may have; with no number given it only shows the number. */
export const changeParticipantSubscriptions = defineAct(
  {
    name: 'participant subscriptions',
    approval: 'never',
    input: closed({ sender_id: SenderId, max_subscriptions: Type.Optional(LIMIT_SETTINGS.max_subscriptions) }),
    result: closed({ sender_id: SenderId, ...LIMIT_SETTINGS }),
  },
  async ({ db }: HasDatabase, { sender_id, max_subscriptions }) => {
    const found = await requireParticipant(db, sender_id)
    const participant =
      max_subscriptions === undefined
        ? found
        : await changeParticipant(db, sender_id, { max_subscriptions: readLimit(max_subscriptions) })
    return { sender_id, max_subscriptions: limitJson(participant.max_subscriptions) }
  },
)
