/** The steps of a participant from its key to the first acknowledged callback, as our own records show them. */

import type { Participant } from '@rollcall/core/model/participant'
import { readChecklistStepTimes } from '@rollcall/engine/store/exchanges/seen-requests'
import { type ChecklistStepTimes, noteChecklistSteps } from '@rollcall/participants/store/milestones'
import { findCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { listCurrentAndFutureKeys } from '@rollcall/participants/store/participant-keys'
import { listEvidenceKeys } from '@rollcall/participants/store/published-keys'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAdminFunction } from '../admin-function.ts'
import { closed, instant, isoTime, NO_INPUT, orNull, text } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'
import type { PartnerDeps } from './partner.ts'

interface ChecklistFacts extends ChecklistStepTimes {
  readonly key: Date | null
  /** True when the participant has an address for callbacks. */
  readonly isCalled: boolean
}

interface ChecklistStep {
  readonly name: keyof ChecklistStepTimes | 'key'
  /** Returns the reason why the step is skipped; null: it must be done. */
  readonly skipped: (participant: Participant, seen: ChecklistFacts) => string | null
  readonly done: string
  readonly open: string
}

const noSkipReason = (): null => null
const unsignedSkipReason = ({ signature_policy }: Participant): string | null =>
  signature_policy === 'off' ? 'The signatures of your messages are not checked.' : null

/** The steps, in the order in which a system that is being connected takes them. */
const CHECKLIST: readonly ChecklistStep[] = [
  {
    name: 'key',
    skipped: unsignedSkipReason,
    done: 'A public key for your signatures is registered.',
    open: 'Make a key pair, and give the public key to the operator. Never give away the private key.',
  },
  {
    name: 'token',
    skipped: noSkipReason,
    done: 'A request with an access token was accepted.',
    open: 'Get an access token with client_id and client_secret, and send a request with it.',
  },
  {
    name: 'search',
    skipped: noSkipReason,
    done: 'A search was accepted.',
    open: 'Send a search. The examples on this page are made for you.',
  },
  {
    name: 'signature',
    skipped: unsignedSkipReason,
    done: 'The signature of one of your messages was verified.',
    open: 'Sign a search with your private key. @rollcall/client does it for you.',
  },
  {
    name: 'callback',
    skipped: (_, { isCalled }) => (isCalled ? null : 'No address for callbacks is set: you get answers at once only.'),
    done: 'Your system acknowledged a callback.',
    open: 'Send an asynchronous search, and acknowledge the callback. Deliveries show what went wrong.',
  },
]

export const showChecklist = defineAdminFunction(
  {
    input: NO_INPUT,
    result: Type.Array(
      closed({
        name: oneOf(['key', 'token', 'search', 'signature', 'callback'], { description: 'Of the step.' }),
        state: oneOf(['done', 'open', 'skipped']),
        text: text('What was seen, or what to do.'),
        at: orNull(instant('When it was first seen.')),
      }),
    ),
  },
  async ({ db, clock, sender_id }: PartnerDeps) => {
    const participant = await requireParticipant(db, sender_id)
    const { allowed, default_url, notify_url } = await findCallbackSettings(db, participant.id)
    const seen: ChecklistFacts = {
      ...(await noteChecklistSteps(db, participant, { look: (id) => readChecklistStepTimes(db, id), now: clock.date() })),
      key: await findFirstKeyTime(db, participant),
      isCalled: allowed.length > 0 || default_url !== null || notify_url !== null,
    }
    return CHECKLIST.map(({ name, skipped, done, open }) => {
      const why = skipped(participant, seen)
      if (why !== null) return { name, state: 'skipped' as const, text: why, at: null }
      const { [name]: at } = seen
      return at === null
        ? { name, state: 'open' as const, text: open, at: null }
        : { name, state: 'done' as const, text: done, at: isoTime(at) }
    })
  },
)

/**
 * The time at which the participant first had a signature key: a key was registered that is neither revoked nor ended, or a
 * published key was used. Null: it has none.
 */
async function findFirstKeyTime(db: PartnerDeps['db'], participant: Participant): Promise<Date | null> {
  const registered = (await listCurrentAndFutureKeys(db, participant))
    .filter(({ use }) => use === 'sig')
    .map(({ created_at }) => created_at)
  const published =
    participant.jwks_uri === null
      ? []
      : (await listEvidenceKeys(db, participant.sender_id)).map(({ first_used_at }) => first_used_at)
  return [...registered, ...published].toSorted((one, other) => one.getTime() - other.getTime())[0] ?? null
}
