/** How much each participant has had kept today, as the database says it, at most half a second old. */

import { type ShortLived, shortLived } from '../shared/short-lived.ts'
import type { Database } from '../store/db/database.ts'
import { type DayTable, type DayUse, useOfToday } from '../store/exchanges/day-counts.ts'

export interface DayUses {
  /** @param participant `Participant.id` */
  of(table: DayTable, participant: number): Promise<DayUse>
}

const MAX_AGE = 500

/** So that a bound costs a statement now and then, and not one for each message; what comes between passes. */
export function createDayUses(db: Pick<Database, 'pool'>): DayUses {
  const usesIn = (table: DayTable): ShortLived<DayUse> =>
    shortLived((id) => useOfToday(db, table, Number(id)), { maxAge: MAX_AGE })
  const held = { inbox_day: usesIn('inbox_day'), accepted_day: usesIn('accepted_day') }
  return { of: (table, participant) => held[table].get(String(participant)) }
}
