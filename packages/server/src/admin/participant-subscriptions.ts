/** Which subscriptions a participant may have, and how many. */
import Type from 'typebox'
import { setSubscriptionSettings } from '../store/directory/participants.ts'
import { closed, flag, limitIn, limitOut, SenderId, UNLIMITED, wholeNumber } from './members.ts'
import type { HasDatabase } from './needs.ts'
import { participantNamed } from './participants.ts'
import { useCase } from './use-case.ts'

const SETTINGS = {
  unfiltered_subscriptions: flag('Whether it may subscribe without a filter, to every record.'),
  max_subscriptions: Type.Union([
    wholeNumber('Subscriptions in all registries that it may have.'),
    Type.Literal(UNLIMITED),
    Type.Null({ description: "The server's limit." }),
  ]),
} as const

/** Changes what is given, and shows the settings; with nothing given it only shows them. */
export const changeParticipantSubscriptions = useCase(
  {
    input: closed({
      sender_id: SenderId,
      unfiltered_subscriptions: Type.Optional(SETTINGS.unfiltered_subscriptions),
      max_subscriptions: Type.Optional(SETTINGS.max_subscriptions),
    }),
    result: closed({ sender_id: SenderId, ...SETTINGS }),
  },
  async ({ db }: HasDatabase, { sender_id, unfiltered_subscriptions, max_subscriptions }) => {
    const changes = {
      ...(unfiltered_subscriptions !== undefined && { unfiltered_subscriptions }),
      ...(max_subscriptions !== undefined && { max_subscriptions: limitIn(max_subscriptions) }),
    }
    const participant =
      Object.keys(changes).length === 0
        ? await participantNamed(db, sender_id)
        : await setSubscriptionSettings(db, sender_id, changes)
    return {
      sender_id,
      unfiltered_subscriptions: participant.unfiltered_subscriptions,
      max_subscriptions: limitOut(participant.max_subscriptions),
    }
  },
)
