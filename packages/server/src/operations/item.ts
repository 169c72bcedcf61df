/** What is known of one item of a batch, and what is done with it: shared by the batches and by those who handle items. */

import type { Context } from '../context.ts'
import type { Exchange } from '../model/exchange.ts'
import type { FoundRecords, ReplyMembers } from '../model/outcome.ts'
import type { RecordReader } from '../model/record-source.ts'

/** How records are read where the request is answered later. */
export interface Reading {
  /** The one state in which several items are answered; else each statement sees the newest. */
  readonly state?: RecordReader
}

/** What an item handler needs: where it works, for whom, and how much the whole answer may still grow. */
export interface ItemWork {
  readonly context: Context
  readonly exchange: Exchange
  readonly budget: {
    /** Of records that the answer may still hold; handlers take from it. */
    bytes: number
    /** Records that its items may still find, on all pages, where further pages follow. */
    records: number
    /** Seconds for which work that may be slow is begun. */
    readonly searchTime: number
    /** Until when that is, by `performance.now()`. */
    readonly until: number
  }
  /** How records are read, where further pages follow (the asynchronous road). */
  readonly reading?: Reading
}

/** One item of a batch: an object; nothing more is known of it than its well-formed timestamp and locale. */
export interface Item {
  readonly timestamp: string
  readonly locale?: string
  readonly [member: string]: unknown
}

export interface ItemAnswer {
  /** Of the item's answer, beside reference_id, timestamp and status. */
  readonly members: ReplyMembers
  /** What further pages are made of, where they were asked for. */
  readonly found?: FoundRecords
}

/** One further page of what an item found. */
export interface KeptPage {
  readonly page_size: number
  /** From 2. */
  readonly page_number: number
  /** Records in all pages. */
  readonly total: number
  /** Of this page. */
  readonly record_ids: readonly number[]
}

/** Does the work of one item. Throws ItemRejection when the item cannot be answered. */
export type ItemHandler = (work: ItemWork, item: Item) => Promise<ItemAnswer>

/** Answers a further page of one item. Throws ItemRejection when it cannot be answered. */
export type PageHandler = (work: ItemWork, item: Item, page: KeptPage) => Promise<ItemAnswer>
