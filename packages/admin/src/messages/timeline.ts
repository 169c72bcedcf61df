/** The timeline of a message: facts of its exchange, audit entries and deliveries, in order and without persons. */

import { type AuditedMessage, findAuditedMessages } from '@rollcall/audit/store/message-entries'
import { findAuditedMessageIds } from '@rollcall/engine/store/exchanges/message-keys'
import { type TracedMessage, traceMessage as traceRows } from '@rollcall/engine/store/exchanges/trace'
import { findParticipant } from '@rollcall/participants/store/participants'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, isoTime, Namespace, orNull, SenderId, text } from '../members.ts'
import { makeStep, makeStepOfEvent, TimelineStep } from './steps.ts'
import { listTraceEvents } from './story.ts'

/** The most exchanges with one message_id that are read: several participants may use the same message_id. */
const MOST_MESSAGES = 20
/** The most deliveries of one exchange, and the most audit entries of one message, that are read. */
const MOST_ROWS_PER_MESSAGE = 100

const Timeline = closed({
  sort: oneOf(['exchange', 'callback'], { description: 'callback: another system sent it to our inbox.' }),
  participant: orNull(SenderId),
  registry: orNull(Namespace),
  operation: orNull(text('Name of the operation, or of the callback.')),
  message_id: orNull(Type.String()),
  transaction_id: orNull(Type.String()),
  correlation_id: orNull(Type.String()),
  waits_for: Type.Array(Type.String(), { description: 'Sentences that say why a delivery is not attempted.' }),
  steps: Type.Array(TimelineStep, { description: 'The oldest first; what is still to come is at the end.' }),
})

/** The members of an input that name a message. */
export const MESSAGE_LOOKUP_MEMBERS = {
  message_id: text('message_id of a request, or of a message of ours.'),
  participant: Type.Optional(text('Only that of this sender_id: several may have used one message_id.')),
  namespace: Type.Optional(Namespace),
} as const

/** Shows the stored facts of a message. They name no person. */
export const showMessage = defineAct(
  {
    name: 'messages show',
    approval: 'never',
    input: closed(MESSAGE_LOOKUP_MEMBERS),
    result: closed({
      messages: Type.Array(Timeline, { description: 'One, or several where participants have used the same message_id.' }),
    }),
  },
  async ({ db }: HasDatabase, asked) => {
    const traced = await findTracedMessages({ db }, asked)
    const keys = await findAuditedMessageIds(db, 'message_id', asked.message_id)
    const { participant, namespace: registry } = asked
    const { found: newest } = await findAuditedMessages(db, { keys, participant, registry }, { limit: MOST_ROWS_PER_MESSAGE })
    const entries = newest.toReversed()
    const groups = Map.groupBy(entries, ({ entry }) => traced.find((one) => isMessageEntry(one, entry)) ?? null)
    const messages = []
    for (const one of traced) messages.push(await timelineOf({ db }, one, groups.get(one) ?? []))
    const rest = Map.groupBy(groups.get(null) ?? [], ({ entry }) =>
      JSON.stringify([entry.participant, entry.registry, entry.correlation_id]),
    )
    for (const [, alike] of rest) messages.push(await timelineOf({ db }, null, alike))
    if (messages.length > 0) return { messages }
    throw new AdminRefusal('nothing is stored of a message with this message_id', { reason: 'not_found' })
  },
)

/** Finds the exchanges and the callbacks in our inbox that have a message with this message_id. */
export async function findTracedMessages(
  { db }: HasDatabase,
  { message_id, participant, namespace }: { message_id: string; participant?: string; namespace?: string },
): Promise<readonly TracedMessage[]> {
  return (await traceRows(db, message_id, { found: MOST_MESSAGES, each: MOST_ROWS_PER_MESSAGE })).filter(
    (one) =>
      (participant === undefined || one.participant === participant) && (namespace === undefined || one.registry === namespace),
  )
}

type Entry = AuditedMessage['entry']

/** True when an entry belongs to a traced message. The correlation_id is not compared for a notification, which has none. */
const isMessageEntry = (one: TracedMessage, entry: Entry): boolean =>
  one.participant === entry.participant &&
  one.registry === entry.registry &&
  (entry.correlation_id === null || one.correlation_id === entry.correlation_id)

/** Makes the timeline of a message. @param traced null: only audit entries of the message are still stored */
async function timelineOf(db: HasDatabase, traced: TracedMessage | null, entries: readonly AuditedMessage[], now = new Date()) {
  const [first] = entries
  const known = traced ?? {
    traced: 'exchange' as const,
    participant: null,
    registry: null,
    operation: null,
    message_id: null,
    transaction_id: null,
    correlation_id: null,
    received_at: null,
    ...first?.entry,
  }
  const { participant, registry, transaction_id, correlation_id, received_at } = known
  const answered = entries.flatMap((logged) => stepsOfAuditEntry(logged, traced))
  const begins = received_at ?? entries.find(({ entry }) => entry.request !== null)?.at ?? null
  const came = begins === null ? [] : [makeStep(isoTime(begins), { step: 'received', message: 'The message came.' })]
  const events = traced === null ? came : listTraceEvents(traced, now).map(makeStepOfEvent)
  const steps = mergeSteps(events, await arrivalSteps(db, begins, participant, entries), answered)
  return {
    sort: known.traced,
    participant,
    registry,
    transaction_id,
    correlation_id,
    operation: known.traced === 'callback' ? known.callback : known.operation,
    message_id: known.message_id ?? first?.message_id ?? first?.reply_message_id ?? null,
    waits_for: traced === null ? [] : waitReasons(traced),
    steps: withDurations(steps),
  }
}

/** Makes the steps `verified` and `checked` from the facts that audit entries have of them. */
async function arrivalSteps(
  { db }: HasDatabase,
  begins: Date | null,
  sender_id: string | null,
  entries: readonly AuditedMessage[],
) {
  const asked = entries.find(({ entry }) => entry.request !== null)
  if (asked === undefined || begins === null) return []
  const { request, grant, basis, purpose } = asked.entry
  const at = isoTime(begins)
  const key = request?.kid ?? null
  const profile = sender_id === null ? null : (await findParticipant(db, sender_id))?.signature_profile
  const { layout, canonical_form } = profile ?? {}
  const grounds = [basis === null ? [] : [`on the basis of ${basis}`], purpose === null ? [] : [`for ${purpose}`]]
  return [
    makeStep(at, {
      step: 'verified',
      key,
      message:
        key === null
          ? 'It is not signed, which the policy of its sender allows.'
          : `The signature is good.${layout === undefined ? '' : ` Its sender signs with the profile ${layout}, ${canonical_form}.`}`,
    }),
    makeStep(at, {
      step: 'checked',
      message:
        grant === null
          ? 'Its checks were passed.'
          : [`Its checks were passed; grant ${grant} permits it`, ...grounds.flat()].join(' ').concat('.'),
    }),
  ]
}

/** The steps that only the audit log has: of synchronous requests, and of messages that are not stored any more. */
function stepsOfAuditEntry({ at, entry, outcome }: AuditedMessage, traced: TracedMessage | null) {
  const { kind, outcomes, records, reply } = entry
  const time = isoTime(at)
  const code = Object.keys(outcomes).find((name) => name !== 'succ') ?? null
  const counts = Object.entries(outcomes).map(([name, count]) => `${count} ${name}`)
  const searched = makeStep(time, {
    step: 'searched',
    outcome: outcome === 'rejected' ? 'failed' : 'done',
    code,
    message: `Items: ${counts.join(', ') || 'none'}. Records that left: ${records}.`,
  })
  const replied = makeStep(time, {
    step: 'replied',
    key: reply?.kid ?? null,
    message: 'Its audit entry was written, and then it was sent.',
  })
  if (kind === 'answer') return [searched, replied]
  if (traced !== null) return []
  return kind === 'acknowledgement'
    ? [makeStep(time, { step: 'accepted', message: 'The request was accepted.' })]
    : [searched, replied]
}

/**
 * Merges steps of the audit log into the stored steps. The steps in `arrival` come directly after `received`, or first without
 * it. Those in `answered` come by their time, before steps that still wait.
 */
function mergeSteps(events: readonly TimelineStep[], arrival: readonly TimelineStep[], answered: readonly TimelineStep[]) {
  const [first, ...others] = events
  const steps = first?.step === 'received' ? [first, ...arrival, ...others] : [...arrival, ...events]
  for (const step of answered) {
    const at = Date.parse(step.at)
    const next = steps.findIndex((one) => one.outcome === 'waiting' || Date.parse(one.at) > at)
    steps.splice(next === -1 ? steps.length : next, 0, step)
  }
  return steps
}

/**
 * For each step, the step from which its duration is measured. If a message does not have that step, the duration is measured
 * from `received`. The duration of a step that is not listed here, or that has one already, is not changed.
 */
const DURATION_STARTS: Readonly<Partial<Record<TimelineStep['step'], TimelineStep['step']>>> = {
  accepted: 'received',
  searched: 'started',
  replied: 'received',
  finished: 'received',
}

function withDurations(steps: readonly TimelineStep[]): TimelineStep[] {
  const timeOf = (name: TimelineStep['step']) => steps.find(({ step }) => step === name)?.at
  return steps.map((step) => {
    const from = DURATION_STARTS[step.step]
    const since = from && (timeOf(from) ?? timeOf('received'))
    if (since === undefined || step.duration_ms !== null) return step
    return { ...step, duration_ms: Math.max(0, Date.parse(step.at) - Date.parse(since)) }
  })
}

function waitReasons(traced: TracedMessage): string[] {
  if (traced.traced === 'callback') return []
  const { accepted, delivery_states, participant_status, breaker } = traced
  if (accepted?.state === 'accepted' && accepted.started_at === null) return ['It waits for a worker.']
  if (delivery_states.pending === undefined) return []
  return [
    ...(participant_status === 'disabled' ? ['Its participant is disabled.'] : []),
    ...(breaker?.opened_at ? ['The circuit breaker of its destination is open.'] : []),
  ]
}
