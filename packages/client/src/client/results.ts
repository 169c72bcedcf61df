/** Reads the items of an answer. Each item was answered or rejected separately (spec "Errors", 5). */
import { isJsonObject, OPERATIONS, type SearchResponse } from '@rollcall/protocol'
import { ItemRejected, TransportError } from '../errors.ts'
import type { Answer } from './messages.ts'

/**
 * The type of a message's items. A message without a list of items, such as the answer to an unsubscribe, counts as one item. In
 * an answer to `txnStatus`, the items are those of the earlier answer inside of it.
 */
export type ItemOf<Message> = Message extends { readonly txnstatus_response: { readonly txn_status: infer Embedded } }
  ? ItemOf<Embedded>
  : Message extends { readonly search_response: readonly (infer Item)[] }
    ? Item
    : Message extends { readonly subscribe_response: readonly (infer Item)[] }
      ? Item
      : Message extends { readonly enrolled_response: readonly (infer Item)[] }
        ? Item
        : Message extends { readonly disabled_response: readonly (infer Item)[] }
          ? Item
          : Message

/** The result of one item: the item, or its rejection. */
export type ItemResult<Item> =
  | { readonly ok: true; readonly reference_id: string; readonly item: Item }
  | { readonly ok: false; readonly reference_id: string; readonly rejection: ItemRejected }

const ITEM_LIST_MEMBERS = [...new Set(OPERATIONS.flatMap(({ reply }) => (reply.items === null ? [] : [reply.items])))]

/** The result of each item, in the order of the answer. `ok` is false only for the status `rjct`; `pdng` and `rcvd` are ok. */
export function resultsOf<Message extends object>({
  message,
}: {
  readonly message: Message
}): readonly ItemResult<ItemOf<Message>>[] {
  return itemsIn(message).map((item) => itemResult(item as ItemOf<Message>))
}

/** The items, when none was rejected. @throws ItemRejected for the first rejected item */
export function itemsOrThrow<Message extends object>(answer: { readonly message: Message }): readonly ItemOf<Message>[] {
  return resultsOf(answer).map((result) => {
    if (!result.ok) throw result.rejection
    return result.item
  })
}

/**
 * The items of an answer to a search. A registry has not searched yet where it says `pdng`, or `rcvd` without data (N7); some
 * registries answer `rcvd` with data (D25). In an answer without items, the status of the header counts.
 * @throws ItemRejected
 * @throws TransportError `unreadable` the registry has not searched yet, which must not be read as "nobody was found"
 */
export function searchItemsOrThrow({ header, message }: Answer<SearchResponse>): readonly ItemOf<SearchResponse>[] {
  const items = itemsOrThrow<SearchResponse>({ message })
  const said: readonly { readonly status: string; readonly data?: unknown }[] = items.length === 0 ? [header] : items
  const open = said.find(({ status, data }) => status === 'pdng' || (status === 'rcvd' && data === undefined))
  if (open === undefined) return items
  throw new TransportError('unreadable', `the registry has not searched yet: the status is ${open.status}`)
}

/**
 * The item of an answer to one search; undefined when there is none. Some registries give no records where too many match, but
 * their number and a text: "nobody was found" must not be read from it.
 * @throws as `searchItemsOrThrow`, also for several items; ItemRejected too many records match
 */
export function onlySearchItem(answer: Answer<SearchResponse>): ItemOf<SearchResponse> | undefined {
  const [item, ...others] = searchItemsOrThrow(answer)
  if (others.length > 0) throw new TransportError('unreadable', 'the answer must have one item')
  const { reference_id = '', data, pagination, status_reason_message: why } = item ?? {}
  if (why !== undefined && data?.reg_records.length === 0 && (pagination?.total_count ?? 0) > 0) {
    throw new ItemRejected(reference_id, 'rjct.search.too_many_records_found', why)
  }
  return item
}

function itemsIn(message: object): readonly unknown[] {
  const members = message as Readonly<Record<string, unknown>>
  const { txnstatus_response: status } = members
  if (isJsonObject(status) && isJsonObject(status.txn_status)) return itemsIn(status.txn_status)
  const name = ITEM_LIST_MEMBERS.find((name) => Array.isArray(members[name]))
  return name === undefined ? [message] : (members[name] as unknown[])
}

function itemResult<Item>(item: Item): ItemResult<Item> {
  const members: Readonly<Record<string, unknown>> = isJsonObject(item) ? item : {}
  const reference_id = textOrEmpty(members.reference_id)
  if (members.status !== 'rjct') return { ok: true, reference_id, item }
  const message = textOrEmpty(members.status_reason_message) || 'the registry rejected the item'
  const rejection = new ItemRejected(reference_id, textOrEmpty(members.status_reason_code), message)
  return { ok: false, reference_id, rejection }
}

const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '')
