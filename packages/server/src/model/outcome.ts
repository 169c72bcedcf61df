/** What an operation made of a message, before it becomes a reply. */
import type { HeaderCode, Status } from '@rollcall/protocol'

/** All records that an item found, in order. */
export interface FoundRecords {
  /** The canonical name. */
  readonly record_type: string
  readonly page_size: number
  readonly record_ids: readonly number[]
}

export interface Outcome {
  readonly status: Status
  readonly status_reason_code?: HeaderCode
  readonly status_reason_message?: string
  /** Items in the batch. */
  readonly total_count: number
  /** Items that are answered for good: succ or rjct (N7). */
  readonly completed_count: number
  /** The members of the reply message beside transaction_id and correlation_id, such as search_response. */
  readonly members: { readonly [member: string]: unknown }
  /** The items of a batch, in order, where further pages follow (the asynchronous road). */
  readonly items?: readonly AnsweredItem[]
  /** Set where the reply leaves encrypted whatever the request was: it holds what was asked for encrypted. */
  readonly encrypted?: true
}

export interface AnsweredItem {
  readonly reference_id: string
  readonly status: 'succ' | 'rjct'
  readonly found?: FoundRecords
}
