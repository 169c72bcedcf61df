/** Answers the items of a subscribe request (spec "SubscribeRequest", "SubscribeResponse"). */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readSubscribeCriteria, type SubscribeCriteria } from '@rollcall/core/events/criteria'
import { nextScheduledRuns } from '@rollcall/core/events/frequency'
import { type Exchange, referenceId } from '@rollcall/core/model/exchange'
import type { ReplyMembers, RequestItemAuditFacts } from '@rollcall/core/model/outcome'
import type { CriteriaConsentMembers } from '@rollcall/core/policy/basis'
import { findSubscriptionRefusal } from '@rollcall/core/policy/subscription'
import { askedAttributesAndPersons } from '@rollcall/core/query/mentions'
import { SubscribeDecider, type SubscribeDecision } from '@rollcall/delivery/events/subscribing'
import { ItemRejection, PROTOCOL_VERSION } from '@rollcall/protocol'
import { answerBatch } from './batch.ts'
import { addConsentToCriteria, consentFacts } from './consented-subscription.ts'
import { type AnswerDeps, batchItemsOf, type Item, type MessageToAnswer } from './item.ts'
import type { Outcome } from './outcome.ts'
import { takeRequestIdentifierBudget } from './quota.ts'

/** For a frequency, the number of its next runs whose times the answer gives. */
const SHOWN_NEXT_RUN_COUNT = 3

/** For each item its criteria, or the rejection of the item. */
type CriteriaOrRejections = ReadonlyMap<Item, SubscribeCriteria | ItemRejection>

/** Answers every item of a subscribe request. The subscriptions are made when the answer is committed. */
export async function answerSubscribe(deps: AnswerDeps, asked: MessageToAnswer): Promise<Outcome> {
  const { exchange, sender_uri = null } = asked
  const now = new Date(deps.clock.date())
  const read = await readItems(deps, asked, now)
  const subscribing = await createSubscribeDecider(deps, asked, read)
  const canNotify = await deps.canNotify(exchange.participant, sender_uri)
  // Each decision affects later ones, so items must be decided in their order. The batch starts their handlers in this order, and
  // a handler waits for nothing before its decision.
  const outcome = await answerBatch(deps, asked, async (work, item) => {
    const criteria = read.get(item) ?? (await readCriteriaOrRejection(deps, exchange, item, now))
    if (criteria instanceof ItemRejection) throw criteria
    const facts = subscriptionFactsOf(criteria)
    takeRequestIdentifierBudget(work, facts, 'rjct.notify_details.invalid', 'subscribe_criteria.filter')
    work.addFacts(facts)
    if (criteria.consent !== null) work.addFacts(consentFacts(criteria.consent))
    if (!canNotify) throw new ItemRejection('rjct.notify_details.invalid', NO_ADDRESS_REASON)
    const decision = subscribing.decide(criteria, { reference_id: referenceId(item), locale: item.locale ?? null })
    return { members: makeSubscribeReplyMembers(criteria, decision, item, exchange, now) }
  })
  return { ...outcome, effects: subscribing.effects }
}

/** Reads the criteria of every item, and gives other work of the process a turn after each. */
async function readItems(deps: AnswerDeps, { exchange, message }: MessageToAnswer, now: Date): Promise<CriteriaOrRejections> {
  const read = new Map<Item, SubscribeCriteria | ItemRejection>()
  for (const item of batchItemsOf(exchange, message)) {
    read.set(item, await readCriteriaOrRejection(deps, exchange, item, now))
    await nextTurn()
  }
  return read
}

/** Reads the subscriptions of the participant that the items may renew or resume, for the decisions about the items. */
function createSubscribeDecider(
  { db, limits }: AnswerDeps,
  { exchange, message: { transaction_id }, sender_uri = null }: MessageToAnswer,
  read: CriteriaOrRejections,
): Promise<SubscribeDecider> {
  const { participant, registry, encrypted, correlation_id } = exchange
  const subscriber = { participant, registry, sender_uri, encrypted, transaction_id, correlation_id }
  const wanted = [...read.values()].flatMap((criteria) => (criteria instanceof ItemRejection ? [] : [criteria]))
  return SubscribeDecider.begin(db, subscriber, limits, wanted)
}

/** The facts about a subscription for the audit entry: its record type, and what its filter names. */
const subscriptionFactsOf = ({ recordType, form, predicate }: SubscribeCriteria): RequestItemAuditFacts => ({
  record_type: recordType.name,
  ...(form !== null && { form }),
  ...(predicate !== null && askedAttributesAndPersons({ predicate })),
})

const NO_ADDRESS_REASON = 'there is no address for notifications: send a sender_uri, or let the operator of this registry set one'

/** Reads the criteria of one item. A rejection of the item is returned, not thrown. */
async function readCriteriaOrRejection(
  deps: AnswerDeps,
  exchange: Exchange,
  item: Item,
  now: Date,
): Promise<SubscribeCriteria | ItemRejection> {
  const { grant, registry } = exchange
  try {
    const criteria = readSubscribeCriteria({ ...registry, kind: grant.kind }, item.subscribe_criteria, deps.limits, now)
    const refused = findSubscriptionRefusal(grant, criteria)
    if (refused !== null) return new ItemRejection('rjct.notify_details.invalid', refused)
    return await addConsentToCriteria({ deps, exchange }, item.subscribe_criteria as CriteriaConsentMembers, criteria, now)
  } catch (error) {
    if (error instanceof ItemRejection) return error
    throw error
  }
}

/**
 * The answer about the subscription that this item made, renewed or resumed, and about no other (public-standard 3.2, rule 8).
 */
function makeSubscribeReplyMembers(
  { echo, frequency }: SubscribeCriteria,
  { code, is, isMoved }: SubscribeDecision,
  { locale }: Item,
  { registry }: Exchange,
  now: Date,
): ReplyMembers {
  const said = [
    ...DECISION_REMARKS[is],
    ...(isMoved ? [NEW_ADDRESS_REMARK] : []),
    ...(frequency === null ? [] : [nextRunsText(nextScheduledRuns(frequency, registry.time_zone, now, SHOWN_NEXT_RUN_COUNT))]),
  ]
  const timestamp = now.toISOString()
  const subscription = { version: PROTOCOL_VERSION, ...echo, code, status: 'subscribe', timestamp }
  return {
    ...(said.length > 0 && { status_reason_message: said.join('; ') }),
    subscriptions: [{ ...subscription, ...(locale !== undefined && { locale }) }],
    pagination: { page_size: 1, page_number: 1, total_count: 1 },
  }
}

const DECISION_REMARKS: Readonly<Record<SubscribeDecision['is'], readonly string[]>> = {
  made: [],
  renewed: ['renewed under its code: it ends at the new end_time'],
  resumed: ['it was suspended and is live again under its code'],
}

const NEW_ADDRESS_REMARK = 'the sender_uri of this request counts for its notifications from now on'

const nextRunsText = (runs: readonly Date[]): string => `next notifications at ${runs.map((run) => run.toISOString()).join(', ')}`
