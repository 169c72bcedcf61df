/** Makes the content of messages from the inputs of callers. */
import type {
  SearchCriteria,
  SearchRequestItem,
  SubscribeCriteria,
  SubscribeRequestItem,
  TxnStatusQuestion,
  TxnStatusRequest,
} from '@rollcall/protocol'
import type { Content } from './messages.ts'

/** Members of an item that the client fills in when the caller does not. */
interface ItemFrame {
  /** The reference_id of the item; by default `1`, `2` ... in the order of the batch. */
  readonly reference_id?: string
  /** The timestamp of the item; the current time by default. */
  readonly timestamp?: string
  readonly locale?: string
}

/** One search: the criteria alone, or an item with criteria. */
export type SearchInput = SearchCriteria | (ItemFrame & { readonly search_criteria: SearchCriteria })
/** One subscription: the criteria alone, or an item with criteria. */
export type SubscribeInput = Subscription | (ItemFrame & { readonly subscribe_criteria: Subscription })
/** The criteria of a subscription. Without a filter, they match every record, if the registry allows that. */
type Subscription = Omit<SubscribeCriteria, 'filter'> & Partial<Pick<SubscribeCriteria, 'filter'>>
/** One input, or a batch of several. */
export type OneOrMore<Input> = Input | readonly Input[]

/**
 * Asks for the status of an earlier request. `attribute_type` and `attribute_value` name the request, for example by its
 * transaction_id; `txn_type` is `search` by default.
 */
export type StatusQuestion = Pick<TxnStatusQuestion, 'attribute_type' | 'attribute_value'> &
  Partial<Pick<TxnStatusQuestion, 'txn_type' | 'reference_id' | 'locale'>>

/** Makes the message of a search. Each item gets a reference_id and a timestamp, unless it has them. */
export function searchContent(input: OneOrMore<SearchInput>): Content<'search'> {
  const search_request = listOf(input).map((one, index): SearchRequestItem => {
    const item = 'search_criteria' in one ? one : { search_criteria: one }
    return { ...defaultItemMembers(index), ...item }
  })
  return { search_request }
}

/** Makes the message of a subscribe. Each item gets a reference_id and a timestamp, unless it has them. */
export function subscribeContent(input: OneOrMore<SubscribeInput>): Content<'subscribe'> {
  const subscribe_request = listOf(input).map((one, index): SubscribeRequestItem => {
    const item = 'subscribe_criteria' in one ? one : { subscribe_criteria: one }
    // The documented schema requires a filter; a registry may accept that it is missing.
    return { ...defaultItemMembers(index), ...item } as SubscribeRequestItem
  })
  return { subscribe_request }
}

/** Makes the message that ends subscriptions. */
export function unsubscribeContent(codes: OneOrMore<string>): Content<'unsubscribe'> {
  return { timestamp: new Date().toISOString(), subscription_codes: [...listOf(codes)] }
}

/** Makes the message of a question about an earlier transaction. */
export function statusContent(question: StatusQuestion): Omit<TxnStatusRequest, 'transaction_id'> {
  return { txnstatus_request: { reference_id: '1', txn_type: 'search', ...question } }
}

function defaultItemMembers(index: number): { reference_id: string; timestamp: string } {
  return { reference_id: String(index + 1), timestamp: new Date().toISOString() }
}

/** The inputs as a list: a single one becomes a list of one. */
export function listOf<Input>(input: OneOrMore<Input>): readonly Input[] {
  return Array.isArray(input) ? input : [input as Input]
}
