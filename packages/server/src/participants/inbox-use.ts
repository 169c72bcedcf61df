/** How much each participant has put into the inbox today, as the database says it, at most half a second old. */
import type { Inbox, InboxUse } from '../store/inbox.ts'
import { shortLived } from './short-lived.ts'

export interface InboxUses {
  /** @param participant `Participant.id` */
  of(participant: number): Promise<InboxUse>
}

const MAX_AGE = 500

/** So that a limit costs a statement now and then, and not one for each message; what comes between passes. */
export function createInboxUses(inbox: Pick<Inbox, 'today'>): InboxUses {
  const held = shortLived((id) => inbox.today(Number(id)), { maxAge: MAX_AGE })
  return { of: (id) => held.get(String(id)) }
}
