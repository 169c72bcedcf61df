/** Answers unsubscribe: one status for the whole request, and the ended subscriptions (spec "UnSubscribeResponse"). */

import { STOP_SENDING_END_REASONS } from '@rollcall/core/model/event'
import type { Exchange, Message } from '@rollcall/core/model/exchange'
import { OutcomeOutdated, type ReplyMembers } from '@rollcall/core/model/outcome'
import { permissionFor } from '@rollcall/core/policy/permission'
import type { ReplyEffect } from '@rollcall/database/transaction'
import { findParticipantSubscriptions, type ParticipantSubscription } from '@rollcall/delivery/store/events/find-subscriptions'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { endSubscriptions, markUnsubscribed } from '@rollcall/delivery/store/events/subscription-states'
import { type ItemCode, isWithinWindow } from '@rollcall/protocol'
import type { AnswerDeps, MessageToAnswer } from './item.ts'
import type { Outcome } from './outcome.ts'

interface UnsubscribeRefusal {
  readonly code: ItemCode
  readonly rule: string
}

/**
 * The reasons why a subscription is not ended. If a request ends no subscription, its reply has the code of the first reason in
 * this table that applies to one of the requested subscriptions.
 */
const UNSUBSCRIBE_REFUSALS = {
  right: { code: 'rjct.requester.invalid', rule: 'this sender has lost the right to them' },
  ended: { code: 'rjct.event.already_unsubscribed', rule: 'they had ended before' },
  unknown: { code: 'rjct.subscription_code.invalid', rule: 'they are no subscriptions of this sender here' },
} as const satisfies Record<string, UnsubscribeRefusal>

/** Ends the subscriptions that the codes name, when the answer is committed. */
export async function answerUnsubscribe(deps: AnswerDeps, { exchange, message }: MessageToAnswer): Promise<Outcome> {
  const now = new Date(deps.clock.date())
  const { timestamp } = message
  const window = deps.limits.timestamp_window
  if (typeof timestamp === 'string' && !isWithinWindow(timestamp, window, exchange.received_at.getTime())) {
    const rule = `timestamp: must lie within ${window} seconds of now`
    return unsubscribeOutcome(deps, askedCodes(message), now, [], { code: 'rjct.timestamp.invalid', text: rule })
  }
  const codes = askedCodes(message)
  const { participant, registry, correlation_id } = exchange
  const own = new Map(
    (await findParticipantSubscriptions(deps.db, participant.id, registry.id, codes)).map((found) => [found.code, found]),
  )
  const judged = codes.map((code) => ({ code, refusal: findUnsubscribeRefusal(exchange, own.get(code)) }))
  const ended = judged.flatMap(({ code, refusal }) => (refusal === null ? (own.get(code) ?? []) : []))
  const settled = judged.flatMap(({ code, refusal }) => {
    const found = refusal === UNSUBSCRIBE_REFUSALS.ended ? own.get(code) : undefined
    return found === undefined || hasNoMessagesAfterEnd(found) ? [] : found
  })
  const others = Map.groupBy(
    judged.filter(({ refusal }) => refusal !== null),
    ({ refusal }) => refusal,
  )
  const named = Object.values(UNSUBSCRIBE_REFUSALS).flatMap((refusal) => {
    const refused = others.get(refusal)
    return refused === undefined ? [] : [{ ...refusal, codes: refused.map(({ code }) => code) }]
  })
  const text = notEndedText(named)
  const [first] = named
  const outcome = unsubscribeOutcome(
    deps,
    codes,
    now,
    ended.map(({ code }) => code),
    { code: first?.code, text },
  )
  if (ended.length + settled.length === 0) return outcome
  return { ...outcome, effects: [makeEndSubscriptionsEffect(registry.id, { ended, settled }, now, correlation_id)] }
}

/** The subscription_codes of the request, each once. */
const askedCodes = ({ subscription_codes }: Message): readonly string[] => [...new Set(subscription_codes as readonly string[])]

/** Why a subscription may not be ended; null: it may. Codes of other participants are answered like unknown codes. */
function findUnsubscribeRefusal({ grant }: Exchange, found: ParticipantSubscription | undefined): UnsubscribeRefusal | null {
  if (found === undefined) return UNSUBSCRIBE_REFUSALS.unknown
  const { event_type, record_type, unfiltered } = found
  const wanted = { operation: 'unsubscribe', event_type, record_type, unfiltered }
  if (!permissionFor(grant, wanted).allowed) return UNSUBSCRIBE_REFUSALS.right
  return found.state === 'ended' ? UNSUBSCRIBE_REFUSALS.ended : null
}

/** True when nothing is sent any more for the ended subscription, not even notifications of earlier events. */
const hasNoMessagesAfterEnd = ({ reason }: ParticipantSubscription): boolean =>
  STOP_SENDING_END_REASONS.some((one) => one === reason)

interface UnsubscribeChanges {
  readonly ended: readonly ParticipantSubscription[]
  /**
   * Subscriptions that had ended before, such as by the death of the person. They are marked as unsubscribed, so that they stay
   * ended if the event of the death is corrected.
   */
  readonly settled: readonly ParticipantSubscription[]
}

/** Makes the effect that ends the subscriptions in `ended`, and marks those in `settled` as unsubscribed. */
const makeEndSubscriptionsEffect =
  (registry: number, { ended, settled }: UnsubscribeChanges, at: Date, by: string): ReplyEffect =>
  async (client) => {
    await lockRegistryFor(client, registry, 'subscribe')
    const idsOf = (subscriptions: readonly ParticipantSubscription[]) => subscriptions.map(({ id }) => id)
    const count = await endSubscriptions(client, idsOf(ended), { reason: 'unsubscribed', at, by })
    const before = await markUnsubscribed(client, idsOf(settled))
    if (count + before < ended.length + settled.length) throw new OutcomeOutdated()
  }

function unsubscribeOutcome(
  { metrics }: AnswerDeps,
  codes: readonly string[],
  now: Date,
  ended: readonly string[],
  refused: { readonly code: ItemCode | undefined; readonly text: string | undefined },
): Outcome {
  const status = ended.length > 0 ? 'succ' : 'rjct'
  const code = status === 'rjct' ? refused.code : undefined
  metrics.itemAnswered('unsubscribe', status, code ?? 'none')
  const said = refused.text === undefined ? {} : { status_reason_message: refused.text }
  const endedCodes = new Set(ended)
  return {
    status,
    ...said,
    total_count: codes.length,
    completed_count: codes.length,
    audited: codes.map((named) => ({ code: endedCodes.has(named) ? 'succ' : (refused.code ?? 'rjct') })),
    members: {
      timestamp: now.toISOString(),
      status,
      ...(code !== undefined && { status_reason_code: code }),
      ...said,
      ...(ended.length > 0 && { subscription_status: ended.map((code) => ({ code, status: 'unsubscribe' })) }),
    },
  }
}

/** The members of a reply to a request that was not processed, or that failed: no subscription was ended. */
export const unansweredUnsubscribeMembers = (_: unknown, __: Message, reason: string, now = new Date()): ReplyMembers => ({
  timestamp: now.toISOString(),
  status: 'rjct',
  status_reason_message: reason,
})

/** The longest reason (spec "Limits") in characters, less 40 for the text `; and … more` with the number of codes left out. */
const MOST_REASON_LENGTH = 999 - 40

/** Says which codes were not ended and why, as many as fit into a text; undefined when there are none. */
function notEndedText(named: readonly (UnsubscribeRefusal & { readonly codes: readonly string[] })[]): string | undefined {
  if (named.length === 0) return undefined
  let text = ''
  let unnamed = 0
  for (const { rule, codes } of named) {
    for (const [index, code] of codes.entries()) {
      const next = index > 0 ? `, ${code}` : `${text === '' ? 'not ended' : '; not ended'}, since ${rule}: ${code}`
      if (unnamed > 0 || text.length + next.length > MOST_REASON_LENGTH) unnamed += 1
      else text += next
    }
  }
  return unnamed === 0 ? text : `${text}; and ${unnamed} more`
}
