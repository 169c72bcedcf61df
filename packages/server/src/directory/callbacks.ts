/** Where and how each participant takes what is sent to it, as the database says it, at most half a second old. */
import type { Participant } from '../model/participant.ts'
import { shortLived } from '../shared/short-lived.ts'
import type { Database } from '../store/db/database.ts'
import { type CallbackSettings, findCallbackSettings } from '../store/directory/participant-callbacks.ts'

export interface Callbacks {
  of(participant: Pick<Participant, 'id'>): Promise<CallbackSettings>
}

/** A change takes effect on every node within a second: this is half of that, the rest is slack. */
const MAX_AGE = 500

export function createCallbacks(db: Database): Callbacks {
  const held = shortLived((id) => findCallbackSettings(db, Number(id)), { maxAge: MAX_AGE })
  return { of: ({ id }) => held.get(String(id)) }
}
