/** Whether a participant may be attempted, as its breaker says, at most half a second old. */
import { shortLived } from '../participants/short-lived.ts'
import { findBreaker } from '../store/breakers.ts'
import type { Database } from '../store/database.ts'

export interface Breakers {
  /** Whether attempts may be made without asking for a probe. */
  isClosed(participant: number): Promise<boolean>
}

const MAX_AGE = 500

export function createBreakers(db: Pick<Database, 'pool'>): Breakers {
  const held = shortLived((id) => findBreaker(db, Number(id)), { maxAge: MAX_AGE })
  return { isClosed: async (participant) => (await held.get(String(participant))).opened_at === null }
}
