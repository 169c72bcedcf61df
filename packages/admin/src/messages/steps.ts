/** The steps of a message in its timeline. Each one has a section in docs/message-flow.md. */

import { explainCause } from '@rollcall/delivery/delivery/causes'
import { oneOf } from '@rollcall/protocol'
import Type, { type Static } from 'typebox'
import { closed, instant, orNull, text, wholeNumber } from '../members.ts'
import type { TraceEvent } from './story.ts'

/** The names of the steps. Each is the anchor of a section in docs/message-flow.md. */
export const TIMELINE_STEPS = [
  'received',
  'verified',
  'checked',
  'accepted',
  'started',
  'searched',
  'replied',
  'finished',
  'recorded',
  'stored',
  'attempt',
  'replayed',
  'ended',
  'next',
] as const

export const TimelineStep = closed({
  step: oneOf(TIMELINE_STEPS, { description: 'Anchor of its section in docs/message-flow.md.' }),
  at: instant('When it happened, or will.'),
  duration_ms: orNull(Type.Number({ description: 'Milliseconds; null: not measured.' })),
  outcome: oneOf(['done', 'failed', 'waiting'], { description: 'waiting: it is still to come.' }),
  code: orNull(text('Code of what went wrong.')),
  message: text('What happened, as a sentence.'),
  key: orNull(text('kid of the key that signed.')),
  delivery: orNull(text('id of the delivery.')),
  page: orNull(wholeNumber('Page of the answer.')),
  attempt: orNull(wholeNumber('Number of the attempt.')),
  status: orNull(Type.Integer({ description: 'HTTP status.' })),
})
export type TimelineStep = Static<typeof TimelineStep>

type GivenStep = Pick<TimelineStep, 'step' | 'message'> & Partial<TimelineStep>

/** Makes a step from the members that are given; the others have defaults. */
export const makeStep = (at: string, told: GivenStep): TimelineStep => ({
  at,
  duration_ms: null,
  outcome: 'done' as const,
  code: null,
  key: null,
  delivery: null,
  page: null,
  attempt: null,
  status: null,
  ...told,
})

const withNoun = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

const endedDeliveryStepMaker =
  (outcome: TimelineStep['outcome'], sentence: string) =>
  (event: TraceEvent & DeliveryFacts): GivenStep => ({
    step: 'ended',
    outcome,
    code: event.reason,
    delivery: event.delivery,
    page: event.page,
    message: [sentence, explainCause(event.reason)?.meaning].filter((part) => part !== undefined).join(' '),
  })

/** Makes the step of an attempt that has not ended. @param state ends the sentence `Attempt 1 is …`, such as `due` */
const unendedAttemptStepMaker =
  (state: string) =>
  ({ delivery, page, number }: Pick<DeliveryFacts, 'delivery' | 'page'> & { readonly number: number }): GivenStep => ({
    step: 'next',
    outcome: 'waiting',
    delivery,
    page,
    attempt: number,
    message: `Attempt ${number} is ${state}.`,
  })

interface DeliveryFacts {
  readonly delivery: string
  readonly page: number
  readonly reason: string | null
}

/** For each name of a message's event (`UntimedTraceEvent`): makes the timeline step of the event. */
const STEP_MAKERS: { readonly [Name in TraceEvent['event']]: (event: TraceEvent & { event: Name }) => GivenStep } = {
  received: ({ encrypted }) => ({
    step: 'received',
    message: encrypted === true ? 'The message came, encrypted.' : 'The message came.',
  }),
  accepted: ({ items }) => ({ step: 'accepted', message: `The request was accepted with ${withNoun(items, 'item')}.` }),
  begun: () => ({ step: 'started', message: 'A worker began to answer.' }),
  answered: ({ items, succ, rjct, records }) => ({
    step: 'searched',
    outcome: succ === 0 && rjct > 0 ? 'failed' : 'done',
    message: `${withNoun(items, 'item')}: ${succ} succeeded, ${rjct} rejected; ${withNoun(records, 'record')} found.`,
  }),
  'delivery made': ({ delivery, page, callback, target_origin }) => ({
    step: 'replied',
    delivery,
    page,
    message: `Page ${page} was made as ${callback} for ${target_origin ?? 'no address'}.`,
  }),
  replied: () => ({ step: 'finished', message: 'Every page of the answer is made.' }),
  failed: () => ({
    step: 'finished',
    outcome: 'failed',
    message: 'The registry could not answer, or the participant may not ask any more.',
  }),
  attempt: ({ delivery, page, number, duration_ms, status, error }) => ({
    step: 'attempt',
    delivery,
    page,
    attempt: number,
    duration_ms,
    status,
    code: error,
    outcome: error === null ? 'done' : 'failed',
    message: explainCause(error)?.meaning ?? 'The receiver took it.',
  }),
  'sent again': ({ delivery, page }) => ({
    step: 'replayed',
    delivery,
    page,
    message: 'An operator or the participant asked for it again.',
  }),
  delivered: endedDeliveryStepMaker('done', 'It is delivered.'),
  refused: endedDeliveryStepMaker('failed', 'The participant refused it.'),
  dead: endedDeliveryStepMaker('failed', 'It was given up.'),
  dropped: endedDeliveryStepMaker('done', 'It is not sent any more.'),
  held: endedDeliveryStepMaker('waiting', 'It is held: there is no address to send it to.'),
  'attempt under way': unendedAttemptStepMaker('under way, until this time at most'),
  'attempt due': unendedAttemptStepMaker('due'),
  kept: ({ state }) => ({
    step: 'stored',
    message:
      state === 'stored'
        ? 'It was stored in the inbox.'
        : 'It was stored in the inbox in quarantine: it answers no request that this server knows.',
  }),
  occurred: ({ event_type, record_type }) => ({ step: 'recorded', message: `${event_type} of a ${record_type} occurred.` }),
  matched: ({ count }) => ({
    step: 'recorded',
    message: `The event was recorded and matched ${withNoun(count, 'subscription')}.`,
  }),
  composed: ({ delivery, page, sequence, target_origin }) => ({
    step: 'replied',
    delivery,
    page,
    message: `Envelope ${sequence ?? ''} was composed for ${target_origin ?? 'no address'}.`.replace('  ', ' '),
  }),
  waits: () => ({ step: 'next', outcome: 'waiting', message: 'It is due in its mailbox.' }),
  'left out': () => ({
    step: 'ended',
    message: 'It is not sent, for example because its subscription was taken back or is not permitted any more.',
  }),
}

/** Makes the step of the timeline for an event of a message. */
export const makeStepOfEvent = (event: TraceEvent): TimelineStep => {
  // The cast is safe: the function that `STEP_MAKERS` has for an event's name accepts events of that name.
  const told = STEP_MAKERS[event.event] as (event: TraceEvent) => GivenStep
  return makeStep(event.at, told(event))
}
