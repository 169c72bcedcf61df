/** The outcome of an operation, from which its reply is made. */
import type { AuditedOutcome } from '@rollcall/core/model/outcome'
import type { RecordId } from '@rollcall/core/model/records'
import type { ReplyEffect } from '@rollcall/database/transaction'
import type { HeaderCode, Status } from '@rollcall/protocol'

/** The result of an operation: what the reply says, and the writes to commit before the reply is sent. */
export interface Outcome extends AuditedOutcome {
  readonly status: Status
  readonly status_reason_code?: HeaderCode
  readonly status_reason_message?: string
  /** The number of items in the batch. */
  readonly total_count: number
  /** The number of items with a final answer: succ or rjct (N7). */
  readonly completed_count: number
  /** Set when a batch is answered, but not on further pages: reference_id, status and found records of each item, in order. */
  readonly items?: readonly ItemAnswerToStore[]
  /**
   * The checks and writes of the operation, in order. For an asynchronous answer they are committed with its first page; for a
   * synchronous answer all in one transaction, before the answer is sent.
   */
  readonly effects?: readonly ReplyEffect[]
  /** Set when the reply must be encrypted although its request was not: the reply repeats the answer to an encrypted request. */
  readonly encrypted?: true
}

/** The part of an item's answer that is stored for status questions and further pages. */
interface ItemAnswerToStore {
  readonly reference_id: string
  readonly status: 'succ' | 'rjct'
  readonly found?: FoundRecords
}

/** The ids of the records that an item found, in order, up to the limit of records for one search. */
export interface FoundRecords {
  /** The canonical name of the record type. */
  readonly record_type: string
  readonly page_size: number
  readonly record_ids: readonly RecordId[]
}
