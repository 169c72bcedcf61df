/** Links by which a participant signs in to the partner page, once. */

import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { newSecret } from '@rollcall/participants/directory/secrets'
import { SIGN_IN_LINK_SECONDS } from '@rollcall/participants/directory/sessions'
import { addParticipantSignInLink, endPartnerSessions } from '@rollcall/participants/store/sessions'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, instant, isoTime, SenderId, text, wholeNumber } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'

export interface HasPartnerPage extends HasDatabase {
  readonly partnerPage: {
    /** True when the servers serve the partner page. */
    readonly isOn: boolean
    /** The address of the servers for peers, without a slash at its end. */
    readonly base: () => string
  }
  readonly clock?: Pick<Clock, 'date'>
}

/** Makes a sign-in link and ends the participant's earlier links. It is shown once: only its digest is stored. */
export const makePartnerLink = defineAct(
  {
    name: 'participant link',
    approval: 'never',
    input: closed({ sender_id: SenderId }),
    result: closed({
      sender_id: SenderId,
      url: text('The link. Its code is good once, and stands after the #.'),
      expires_at: instant('From when on it is refused.'),
    }),
  },
  async ({ db, partnerPage, clock = SYSTEM_CLOCK }: HasPartnerPage, { sender_id }) => {
    if (!partnerPage.isOn) {
      throw new AdminRefusal('the partner page is off: start the server with ROLLCALL_PARTNER_PAGE=1', { reason: 'conflict' })
    }
    await requireParticipant(db, sender_id)
    const ends_at = new Date(clock.date() + SIGN_IN_LINK_SECONDS * 1_000)
    const { secret, sha256 } = newSecret()
    const id = await addParticipantSignInLink(db, { sender_id, sha256, ends_at })
    if (id === null) {
      throw new AdminRefusal(`${sender_id} is disabled; enable it before it gets a link`, { reason: 'conflict' })
    }
    const url = `${partnerPage.base()}/partner#${id}_${secret}`
    return { sender_id, url, expires_at: isoTime(ends_at) }
  },
)

/** Ends the sessions of a participant on the partner page. The participant's system can still send requests. */
export const signPartnerOut = defineAct(
  {
    name: 'participant sign-out',
    approval: 'never',
    input: closed({ sender_id: SenderId }),
    result: closed({
      sender_id: SenderId,
      sessions: wholeNumber('Sessions of the partner page that were ended. Links that were not used end as well.'),
    }),
  },
  async ({ db }: HasDatabase, { sender_id }) => {
    const { id } = await requireParticipant(db, sender_id)
    return { sender_id, sessions: await endPartnerSessions(db.kysely, { id }) }
  },
)
