/** The limits of a participant: records in a page, requests in a second, and requests at a time. */

import { changeParticipant } from '@rollcall/participants/store/participants'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, limitJson, readLimit, SenderId } from '../members.ts'
import { ConcurrencyLimit, MaxPageSize, RateLimit, requireParticipant } from './participants.ts'

const LIMITS = { max_page_size: MaxPageSize, rate_limit: RateLimit, concurrency_limit: ConcurrencyLimit } as const

/** Changes the given limits, if any, and returns all of them. Nodes apply them within a second. */
export const changeParticipantLimits = defineAct(
  {
    name: 'participant limits',
    approval: 'never',
    input: closed({
      sender_id: SenderId,
      max_page_size: Type.Optional(LIMITS.max_page_size),
      rate_limit: Type.Optional(LIMITS.rate_limit),
      concurrency_limit: Type.Optional(LIMITS.concurrency_limit),
    }),
    result: closed({ sender_id: SenderId, ...LIMITS }),
  },
  async ({ db }: HasDatabase, { sender_id, max_page_size, rate_limit, concurrency_limit }) => {
    const changes = {
      ...(max_page_size !== undefined && { max_page_size }),
      ...(rate_limit !== undefined && { rate_limit: readLimit(rate_limit) }),
      ...(concurrency_limit !== undefined && { concurrency_limit: readLimit(concurrency_limit) }),
    }
    const participant =
      Object.keys(changes).length === 0
        ? await requireParticipant(db, sender_id)
        : await changeParticipant(db, sender_id, changes)
    return {
      sender_id,
      max_page_size: participant.max_page_size,
      rate_limit: limitJson(participant.rate_limit),
      concurrency_limit: limitJson(participant.concurrency_limit),
    }
  },
)
