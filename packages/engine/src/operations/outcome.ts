/** The result of an operation, before it becomes a reply. */
import type { AuditedOutcome } from '@rollcall/core/model/outcome'
import type { RecordId } from '@rollcall/core/model/records'
import type { Effect } from '@rollcall/database/transaction'
import type { HeaderCode, Status } from '@rollcall/protocol'

export interface Outcome extends AuditedOutcome {
  readonly status: Status
  readonly status_reason_code?: HeaderCode
  readonly status_reason_message?: string
  /** Items in the batch. */
  readonly total_count: number
  /** Items that are answered for good: succ or rjct (N7). */
  readonly completed_count: number
  /** The items of a batch, in order. */
  readonly items?: readonly AnsweredItem[]
  /** The writes of the operation, in this order: committed together with the reply, or not at all. */
  readonly effects?: readonly Effect[]
  /** Set if the reply must be encrypted also for a request in clear: it has the answer to an encrypted request. */
  readonly encrypted?: true
}

interface AnsweredItem {
  readonly reference_id: string
  readonly status: 'succ' | 'rjct'
  readonly found?: FoundRecords
}

/** All records that an item found, in order. */
export interface FoundRecords {
  /** The canonical name. */
  readonly record_type: string
  readonly page_size: number
  readonly record_ids: readonly RecordId[]
}
