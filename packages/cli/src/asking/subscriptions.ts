/** Reads the subscription of `rollcall subscribe`, and makes texts of subscriptions and events. */
import { type EventContext, ItemRejected, type SubscribeInput } from '@rollcall/client'
import type { JsonObject, SubscribeCriteria, SubscribeResponseItem, Subscription } from '@rollcall/protocol'
import { CommandError } from '../failure.ts'
import { printableJson, toPrintableLine } from './printing.ts'
import { readQuestions, type SearchQueryOptions } from './questions.ts'
import type { RegistryTarget } from './target.ts'

export interface SubscriptionOptions
  extends Pick<SearchQueryOptions, 'identifier' | 'where' | 'graphql' | 'query' | 'recordType'> {
  readonly event: string
  readonly frequency?: string
  readonly start?: Date
  readonly until?: Date
}

/** Reads a subscription from options. @throws CommandError, which repeats no value */
export async function readSubscription(
  options: SubscriptionOptions,
  { record_type }: Pick<RegistryTarget, 'record_type'>,
): Promise<SubscribeInput> {
  const { event: reg_event_type, recordType = record_type } = options
  if (recordType === null) throw new CommandError('--record-type is missing; name the record type to be sent')
  const criteria = { reg_event_type, ...(await readFilter(options)), notify_record_type: recordType, ...readFrequency(options) }
  // The registry decides whether a subscription without a filter is permitted.
  return criteria as JsonObject & SubscribeCriteria
}

async function readFilter({
  identifier,
  where,
  graphql,
  query,
}: SubscriptionOptions): Promise<Pick<Partial<SubscribeCriteria>, 'filter_type' | 'filter'>> {
  const forms = { identifier, where, graphql, query }
  if (Object.values(forms).every((form) => form === undefined)) return {}
  const [question, ...others] = await readQuestions(
    Object.fromEntries(Object.entries(forms).filter(([, form]) => form !== undefined)),
  )
  if (question === undefined || others.length > 0) {
    throw new CommandError('a subscription has one filter; give the command again for another one')
  }
  const { query_type, query: filter } = 'search_criteria' in question ? question.search_criteria : question
  return { filter_type: query_type, filter }
}

function readFrequency({ frequency, start, until }: SubscriptionOptions): Pick<Partial<SubscribeCriteria>, 'frequency'> {
  if (frequency === undefined && start === undefined && until === undefined) return {}
  if (frequency === undefined) throw new CommandError('--start and --until need --frequency')
  if (until === undefined) throw new CommandError('--frequency needs --until, the time at which it ends')
  const start_time = (start ?? new Date()).toISOString()
  return { frequency: { frequency, start_time, end_time: until.toISOString() } }
}

/** Lists the codes of the subscriptions in an item of a subscribe response. */
export const subscriptionCodes = ({ subscriptions = [] }: Pick<SubscribeResponseItem, 'subscriptions'>): string[] =>
  subscriptions.map(({ code }: Subscription) => code)

/** Matches codes of subscriptions as Rollcall makes them. Registries of other software have other codes. */
const SUBSCRIPTION_CODE_PATTERN = /\bSUB-[0-9A-Z]{24}\b/g

/** Lists the codes of our existing subscriptions that the rejection already_subscribed names; empty for other errors. */
export function listExistingSubscriptionCodes(failure: unknown): readonly string[] {
  if (!(failure instanceof ItemRejected) || failure.code !== 'rjct.event.already_subscribed') return []
  return failure.message.match(SUBSCRIPTION_CODE_PATTERN) ?? []
}

/** Makes the message for the rejection already_subscribed, with advice to end or replace the existing subscriptions. */
export const existingSubscriptionsText = (codes: readonly string[], namespace: string): string =>
  [
    `rejected: rjct.event.already_subscribed: you have a subscription to the same, ${codes.join(', ')}`,
    'its notifications go to the address with which it was made, not to this listener',
    '--replace ends it and subscribes again',
    `rollcall unsubscribe ${namespace} ${codes.join(' ')} ends it`,
    `rollcall subscriptions show ${codes[0]} shows it to the operator of the registry`,
  ].join('; ')

/** An event as JSON, for programs. */
export function eventJson(record: unknown, context: EventContext): object {
  const { event: _, notification, ...said } = context
  const { message_id, sender_id } = notification.header
  return { time: new Date().toISOString(), sender_id, message_id, ...said, record }
}

/** An event as text: what happened to whom, for which subscription, and the record. */
export function eventText(record: unknown, context: EventContext): string {
  const { event_type, record_type, subscriptions, occurred_at, notification } = context
  const marks = (['test', 'backfill', 'superseded'] as const).filter((name) => context[name])
  const head = [
    `${new Date().toISOString()}  ${event_type ?? 'correction'} of a ${record_type}`,
    ...(occurred_at === null ? [] : [`of ${occurred_at}`]),
    notification.signed ? 'signed' : 'not signed',
    ...marks,
  ]
  const codes = Object.entries(subscriptions).map(([code, presence]) => toPrintableLine(`  ${code}: ${presence}`))
  return [toPrintableLine(head.join(', ')), ...codes, printableJson(record)].join('\n')
}
