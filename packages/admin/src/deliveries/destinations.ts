/** Destinations: where deliveries wait, are held or were given up, why, and what to do. */

import { isTextStorable } from '@rollcall/database/text'
import { explainCause } from '@rollcall/delivery/delivery/causes'
import { listDestinations as listRows } from '@rollcall/delivery/store/deliveries/destination-list'
import Type from 'typebox'
import { defineAdminFunction } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, instant, isoTime, Namespace, orNull, SenderId, text, wholeNumber } from '../members.ts'
import { ExplainedDeliveryCause, ExplainedDeliveryCauseOrNull } from './cause-members.ts'

/** Lists destinations, those with the most dead letters first. */
export const listDestinations = defineAdminFunction(
  {
    input: closed({
      participant: Type.Optional(SenderId),
      namespace: Type.Optional(Namespace),
      limit: Type.Optional(wholeNumber('At most so many (default: 100).', 1, 1_000)),
    }),
    result: closed({
      destinations: Type.Array(
        closed({
          participant: SenderId,
          origin: orNull(text('Of the address; null: there is no address.')),
          waiting: wholeNumber('Deliveries that are to be attempted.'),
          dead: wholeNumber('Deliveries that were given up.'),
          held: wholeNumber('Answers that are not attempted, because there is no address.'),
          oldest: instant('When the oldest of them was made.'),
          failures: wholeNumber('Attempts that failed in a row.'),
          opened_at: orNull(instant('Since when its circuit breaker is open; null: it is closed.')),
          probe_at: orNull(instant('When an open one lets the next attempt through.')),
          causes: Type.Array(closed({ ...ExplainedDeliveryCause.properties, deliveries: wholeNumber('How many.') }), {
            description: 'Why deliveries were given up, the most frequent first.',
          }),
          last_cause: ExplainedDeliveryCauseOrNull,
        }),
      ),
      more: Type.Boolean({ description: 'Whether there are more than were asked for.' }),
    }),
  },
  async ({ db }: HasDatabase, { participant, namespace, limit = 100 }) => {
    const asked = { participant: participant ?? null, registry: namespace ?? null }
    if (participant !== undefined && !isTextStorable(participant)) return { destinations: [], more: false }
    const rows = await listRows(db, asked, limit + 1)
    const destinations = rows
      .slice(0, limit)
      .map(({ origin, reasons, last_error, ...row }) => ({
        ...row,
        origin: origin === '' ? null : origin,
        oldest: isoTime(row.oldest),
        opened_at: isoTime(row.opened_at),
        probe_at: isoTime(row.probe_at),
        causes: explainCauses(reasons),
        last_cause: explainCause(last_error),
      }))
    return { destinations, more: rows.length > limit }
  },
)

const UNKNOWN_CAUSE_TEXTS = {
  meaning: 'This version does not know the cause.',
  advice: 'Look at the attempts of a delivery, and read the log.',
}

const explainCauses = (reasons: Readonly<Record<string, number>>) =>
  Object.entries(reasons)
    .toSorted(([, one], [, other]) => other - one)
    .map(([cause, deliveries]) => ({ ...(explainCause(cause) ?? { cause, ...UNKNOWN_CAUSE_TEXTS }), deliveries }))
