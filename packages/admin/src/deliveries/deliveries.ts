/** Deliveries: what is sent to participants, the results of attempts, and changes by hand. */

import type { Limits } from '@rollcall/core/limits'
import { deliveryAnswerBinding, deliveryBodyBinding } from '@rollcall/core/model/delivery'
import type { ReadOnly } from '@rollcall/core/model/read-only'
import type { Database } from '@rollcall/database/database'
import { explainCause } from '@rollcall/delivery/delivery/causes'
import {
  changeDeliveriesAtMost,
  countDeliveryChange,
  type DeliveryChangeCounts,
  MANUAL_DELIVERY_CHANGES,
} from '@rollcall/delivery/store/deliveries/delivery-changes'
import { DELIVERY_STATES, type DeliveryFilter } from '@rollcall/delivery/store/deliveries/delivery-choice'
import { findDelivery, type ListedDelivery, listDeliveries as listRows } from '@rollcall/delivery/store/deliveries/delivery-list'
import { type BodyEncryption, createBodyEncryption } from '@rollcall/keys/bodies'
import { oneOf } from '@rollcall/protocol'
import Type, { type Static } from 'typebox'
import { type BaseActDeps, defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import type { ProposedChanges } from '../approvals/diff-lines.ts'
import type { HasDatabase, HasVault } from '../deps.ts'
import {
  closed,
  dateOf,
  flag,
  instant,
  isoTime,
  markPersonal,
  Namespace,
  orNull,
  SenderId,
  text,
  wholeNumber,
} from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'
import { ExplainedDeliveryCauseOrNull } from './cause-members.ts'

export { DELIVERY_STATES, type DeliveryState } from '@rollcall/delivery/store/deliveries/delivery-choice'

const State = oneOf(DELIVERY_STATES, { description: 'State of a delivery (docs/deliveries.md).' })

/** The members of an input that choose deliveries. */
export const DELIVERY_FILTER_MEMBERS = {
  participant: Type.Optional(SenderId),
  namespace: Type.Optional(Namespace),
  origin: Type.Optional(
    text('Only those to this origin of an address, such as https://peer.example; empty: those without an address.'),
  ),
  since: Type.Optional(instant('Only those made at this time or later.')),
  until: Type.Optional(instant('Only those made before this time.')),
  state: Type.Optional(State),
} as const
const DeliveryFilterSchema = closed(DELIVERY_FILTER_MEMBERS)

const DELIVERY_MEMBERS = {
  id: text('id of the delivery.'),
  participant: SenderId,
  registry: orNull(Namespace),
  callback: text('Name of the callback.'),
  page: wholeNumber('Page of the answer, from 1.'),
  message_id: text('message_id that it has in every attempt.'),
  correlation_id: orNull(text('correlation_id of the request that it answers.')),
  state: State,
  attempts: wholeNumber('Attempts that were begun.'),
  target: orNull(text('Address that it is sent to; null: none is known.')),
  reason: orNull(text('Why it is in its state.')),
  cause: ExplainedDeliveryCauseOrNull,
  created_at: instant('When it was made.'),
  next_attempt_at: orNull(instant('When it is attempted next.')),
  finished_at: orNull(instant('When it came to its end.')),
} as const

/** The most deliveries that one call lists: one more than a command shows, so that the command can say whether there are more. */
const MOST_LISTED = 10_001

/** Lists deliveries, the newest first. */
export const listDeliveries = defineAdminFunction(
  {
    input: closed({
      ...DELIVERY_FILTER_MEMBERS,
      before: Type.Optional(text('Only those behind this one: for the next page, the last id of this one.')),
      limit: Type.Optional(wholeNumber('At most so many (default: 50).', 1, MOST_LISTED)),
    }),
    result: Type.Array(closed(DELIVERY_MEMBERS)),
  },
  async ({ db }: HasDatabase, { limit = 50, before: last, ...given }) => {
    const before = last === undefined ? undefined : (await requireDelivery(db, last, 'before')).id
    const choice = { ...(await readDeliveryFilter(db, given)), ...(before !== undefined && { before }) }
    return (await listRows(db, choice, limit)).map(shownDelivery)
  },
)

/** Shows one delivery with every attempt. */
export const showDelivery = defineAct(
  {
    name: 'deliveries show',
    approval: {
      when: 'wider',
      role: 'audit',
      compare: ({ id, body = false }) => (body ? { about: { id }, wanted: { opens: 'the body of the delivery' } } : null),
    },
    entry: 'within',
    input: closed({
      id: DELIVERY_MEMBERS.id,
      body: Type.Optional(flag('Also show the message and the beginning of each answer, which may be personal data.')),
    }),
    result: closed({
      ...DELIVERY_MEMBERS,
      body: Type.Optional(markPersonal(orNull(text('The message in clear.')))),
      made: Type.Array(
        closed({
          number: wholeNumber('Number of the attempt, from 1.'),
          at: instant('When it began.'),
          duration_ms: Type.Number({ description: 'Milliseconds.' }),
          status: orNull(Type.Integer({ description: 'HTTP status.' })),
          error: orNull(text('What went wrong, as a code.')),
          cause: ExplainedDeliveryCauseOrNull,
          answer: Type.Optional(markPersonal(orNull(text('Beginning of the answer.')))),
        }),
      ),
    }),
  },
  async ({ db, vault }: HasVault, { id, body = false }, enter) => {
    const { registry, correlation_id } = await requireDelivery(db, id)
    const repeats = correlation_id === null ? [] : [correlation_id]
    await enter(body ? { note: 'deliveries show --body', registry: registry ?? undefined, repeats } : undefined)
    return readDelivery(db, id, body ? vault : null)
  },
)

/** Shows a delivery with its attempts. @param vault null: bodies and answers are not decrypted */
export async function readDelivery(db: Database, id: string, vault: HasVault['vault'] | null) {
  const { body, made, ...delivery } = await requireDelivery(db, id)
  const bodies = vault === null ? null : createBodyEncryption(db, await vault())
  const attempts = await Promise.all(
    made.map(async ({ answer, at, ...attempt }) => ({
      ...attempt,
      at: isoTime(at),
      cause: explainCause(attempt.error),
      ...(bodies && { answer: await decryptBodyText(bodies, answer, deliveryAnswerBinding(id, attempt.number)) }),
    })),
  )
  return {
    ...shownDelivery(delivery),
    ...(bodies && { body: await decryptBodyText(bodies, body, deliveryBodyBinding(id)) }),
    made: attempts,
  }
}

/** Finds a delivery. @throws AdminRefusal there is none with this id */
async function requireDelivery(db: Database, id: string, member?: string) {
  const found = await findDelivery(db, id)
  if (found !== null) return found
  const message = `${member === undefined ? '' : `${member}: `}there is no delivery ${id}`
  throw new AdminRefusal(message, { reason: 'not_found' })
}

async function decryptBodyText(bodies: BodyEncryption, sealed: Uint8Array | null, context: string): Promise<string | null> {
  if (sealed === null) return null
  return bodies.decryptBody(sealed, context).catch((error: Error) => `(${error.message})`)
}

export type DeliveryChange = keyof typeof MANUAL_DELIVERY_CHANGES
// The cast is safe: `MANUAL_DELIVERY_CHANGES` has exactly the names of `DeliveryChange`.
const CHANGE_NAMES = Object.keys(MANUAL_DELIVERY_CHANGES) as DeliveryChange[]

/** The second reason in the message that refuses a replay. The first: none of the deliveries is in a state that allows it. */
export const OR_RECORD_DELETED_TEXT = ', or its record was deleted after the delivery'

/** The states of a delivery in which this change is possible. */
export const changeableStates = (change: DeliveryChange): readonly string[] => MANUAL_DELIVERY_CHANGES[change].from

interface ChangeDeps extends HasDatabase {
  readonly limits?: Partial<Pick<Limits, 'replay_deliveries'>>
}

/** Makes the refusal of a change of more deliveries than one call may change. */
export const deliveryCountRefusal = (found: number, most: number): AdminRefusal =>
  new AdminRefusal(
    `these are ${found} deliveries, and ${most} at most may be changed at a time: give a shorter time with since and until`,
    { reason: 'conflict' },
  )

/** Retries, cancels or replays those of the chosen deliveries whose state allows it. */
export const changeDeliveries = defineAct(
  {
    name: 'deliveries change',
    approval: {
      when: 'wider',
      role: 'operate',
      stored: (deps: ChangeDeps, { change, all: _, ...given }) => countReplay(deps, change, given),
      compare: ({ change: _, ...given }, counted) => replayToApprove(given, counted),
    },
    input: closed({
      ...DELIVERY_FILTER_MEMBERS,
      change: oneOf(CHANGE_NAMES, {
        description:
          'retry: attempt pending and dead ones now; drop: stop attempting them; replay: send what came to its end again.',
      }),
      ids: Type.Optional(Type.Array(Type.String(), { description: 'ids of the deliveries.' })),
      all: Type.Optional(flag('All deliveries, where nothing else selects some.')),
    }),
    result: closed({
      changed: wholeNumber('Deliveries that were changed.'),
      in_closed_mailboxes: Type.Optional(
        wholeNumber('Notifications that were left as they are, because their mailbox is closed.'),
      ),
    }),
  },
  async ({ db, limits, approvals, caller }: ChangeDeps & BaseActDeps, { change, ids, all = false, ...given }) => {
    if (Object.keys(given).length === 0 && ids === undefined && !all) {
      throw new AdminRefusal('name the deliveries: by ids, participant, since, until or state; or give all')
    }
    const choice = { ...(await readDeliveryFilter(db, given)), ...(ids !== undefined && { ids }) }
    // More deliveries may be suitable than were counted: one operator alone may replay at most `most`.
    const isAlone = change === 'replay' && approvals.areNeeded && caller.kind !== 'proposal'
    const most = isAlone ? (limits?.replay_deliveries ?? 0) : null
    const { chosen, changed } = await changeDeliveriesAtMost(db, change, choice, most)
    if (most !== null && chosen > most) throw deliveryCountRefusal(chosen, most)
    const inClosed = sumCounts(await countDeliveryChange(db, change, choice), 'in_closed_mailboxes')
    if (inClosed > 0 && changed === 0) {
      throw new AdminRefusal(`${change} needs an open mailbox; resume a subscription of the mailbox first`)
    }
    if (ids !== undefined && ids.length > 0 && changed === 0) {
      const possible = changeableStates(change).join(' or ')
      throw new AdminRefusal(
        `${change} needs deliveries that are ${possible}; none of these is${change === 'replay' ? OR_RECORD_DELETED_TEXT : ''}`,
      )
    }
    return { changed, ...(inClosed > 0 && { in_closed_mailboxes: inClosed }) }
  },
)

type FilterWithIds = ReadOnly<Static<typeof DeliveryFilterSchema>> & { readonly ids?: readonly string[] | undefined }

interface CountedReplay {
  /** The number of deliveries that would be sent again. */
  readonly replayed: number
  /** The most deliveries that one operator alone may send again. */
  readonly most: number
}

/** Counts what a replay would send again; 0 for a retry or a drop. `most`: how many deliveries one operator alone may replay. */
export async function countReplay({ db, limits }: ChangeDeps, change: DeliveryChange, { ids, ...given }: FilterWithIds) {
  const most = limits?.replay_deliveries ?? 0
  if (change !== 'replay') return { replayed: 0, most }
  const choice = { ...(await readDeliveryFilter(db, given)), ...(ids !== undefined && { ids }) }
  return { replayed: sumCounts(await countDeliveryChange(db, change, choice), 'deliveries'), most }
}

/**
 * The replay that a second operator must approve; null when one operator may replay this number of deliveries alone. The proposal
 * says `more than`, because the exact number of deliveries changes all the time.
 */
export const replayToApprove = ({ ids, ...about }: FilterWithIds, { replayed, most }: CountedReplay): ProposedChanges | null =>
  replayed <= most ? null : { about: { ...about, ids: ids?.length }, wanted: { replayed: `more than ${most}` } }

/** Adds up one count (`what`) over the rows of all participants. */
export const sumCounts = (counted: readonly DeliveryChangeCounts[], what: 'deliveries' | 'in_closed_mailboxes'): number =>
  counted.reduce((sum, row) => sum + row[what], 0)

/** Turns the input members that choose deliveries into a DeliveryFilter. @throws AdminRefusal there is no such participant */
export async function readDeliveryFilter(
  db: Database,
  { participant, namespace, origin, since, until, state }: ReadOnly<Static<typeof DeliveryFilterSchema>>,
): Promise<DeliveryFilter> {
  if (participant !== undefined) await requireParticipant(db, participant)
  return {
    ...(participant !== undefined && { participant }),
    ...(namespace !== undefined && { registry: namespace }),
    ...(origin !== undefined && { origin }),
    ...(since !== undefined && { since: dateOf(since) }),
    ...(until !== undefined && { until: dateOf(until) }),
    ...(state !== undefined && { state }),
  }
}

/** A delivery as it is shown. Its cause explains `reason`, or if that is null, the error of the last attempt. */
const shownDelivery = ({ last_error, ...row }: ListedDelivery) => ({
  ...row,
  cause: explainCause(row.reason ?? last_error),
  created_at: isoTime(row.created_at),
  next_attempt_at: isoTime(row.next_attempt_at),
  finished_at: isoTime(row.finished_at),
})
