/** Sessions of the partner page. One is of one participant, and ends when that is disabled or removed. */

import type { Clock } from '@rollcall/base/shared/clock'
import type { Limits } from '@rollcall/core/limits'
import type { Database } from '@rollcall/database/database'
import {
  addPartnerSession,
  endOlderPartnerSessions,
  endPartnerSession,
  findPartnerLink,
  findPartnerSession,
  notePartnerSeen,
  type StoredPartnerSession,
  spendPartnerLink,
} from '../store/partner-sessions.ts'
import { createSessions, type SessionLimits, type Sessions } from './sessions.ts'

export type PartnerSession = Pick<StoredPartnerSession, 'session' | 'sender_id' | 'ends_at'>

/** Who signs in is a `Participant.id`. */
export interface PartnerSessions extends Sessions<number, PartnerSession> {
  end(session: Pick<PartnerSession, 'session'>): Promise<void>
}

export function createPartnerSessions(
  db: Pick<Database, 'pool'>,
  parts: { readonly limits: SessionLimits & Pick<Limits, 'operator_sessions'>; readonly clock?: Pick<Clock, 'date'> },
): PartnerSessions {
  const sessions = createSessions<number, StoredPartnerSession>(
    {
      async add(participant, session) {
        const id = await addPartnerSession(db, participant, session)
        if (id !== null) await endOlderPartnerSessions(db, participant, parts.limits.operator_sessions)
        return id
      },
      find: (id) => findPartnerSession(db, id),
      noteSeen: (id, now) => notePartnerSeen(db, id, now),
      findLink: (id, now) => findPartnerLink(db, id, now),
      spendLink: (id) => spendPartnerLink(db, id),
    },
    parts,
  )
  return { ...sessions, end: ({ session }) => endPartnerSession(db, session) }
}
