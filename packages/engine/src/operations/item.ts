/** The types for one item of a batch and its answer, shared by batches and item handlers. */

import type { Clock } from '@rollcall/base/shared/clock'
import type { Semaphore } from '@rollcall/base/shared/semaphore'
import type { Consents } from '@rollcall/consents/consents'
import type { Limits } from '@rollcall/core/limits'
import type { ConsentUse } from '@rollcall/core/model/consent'
import type { Exchange, Message, ModeName } from '@rollcall/core/model/exchange'
import type { AskedFacts, ReplyMembers } from '@rollcall/core/model/outcome'
import type { Participant } from '@rollcall/core/model/participant'
import type { RecordReader, RecordSource } from '@rollcall/core/model/record-source'
import type { RecordId } from '@rollcall/core/model/records'
import type { Database } from '@rollcall/database/database'
import type { Bodies } from '@rollcall/keys/bodies'
import type { Log } from '@rollcall/observe/log'
import type { Metrics } from '@rollcall/observe/metrics'
import type { GrantQuota } from '@rollcall/participants/admission/grant-quota'
import type { SearchSlots } from '@rollcall/participants/admission/search-slots'
import type { ReadingThreads } from '@rollcall/participants/reading/threads'
import type { FoundRecords } from './outcome.ts'

export interface OpeningRequest {
  readonly db: Pick<Database, 'pool'>
  readonly bodies: Pick<Bodies, 'decryptBody' | 'encryptBody'>
  /** Threads on which large requests are read. */
  readonly reading: ReadingThreads
}

/** A message that is to be answered, and how. */
export interface Asked {
  readonly mode: ModeName
  readonly exchange: Exchange
  readonly message: Message
  /** For a chunk: reference_ids that earlier chunks of the request have too. */
  readonly earlier?: readonly string[]
  /** The unchanging state of the records for the whole batch; absent: each statement sees the newest state. */
  readonly state?: RecordReader
  /** For an asynchronous message: the checked address for its answers; null: the message has none. */
  readonly sender_uri?: string | null
}

/** The dependencies of the operations. */
export interface Answering extends OpeningRequest {
  /** Measures the time of searches. */
  readonly clock: Pick<Clock, 'now' | 'date'>
  readonly consents: Consents
  readonly db: Database
  readonly grantQuota: GrantQuota
  readonly limits: Limits
  readonly log: Log
  readonly metrics: Pick<Metrics, 'itemAnswered' | 'searched' | 'emergencyUsed'>
  readonly modes: Modes
  readonly recordsOf: (registry: { readonly id: number }) => RecordSource
  readonly turns: Semaphore
  /** Whether there is an address for notifications of a subscription that was requested from `sender_uri`. */
  readonly canNotify: (participant: Participant, sender_uri: string | null) => Promise<boolean>
}

/** The dependencies of an item handler: the exchange, and how much the whole answer may still grow. */
export interface ItemWork {
  readonly deps: Answering
  readonly exchange: Exchange
  readonly budget: {
    /** Bytes of records that the answer may still have; handlers reduce it. */
    bytes: number
    /** Records that the items may still find on all pages, if further pages follow. */
    records: number
    /** No search starts after this time, by `deps.clock`. */
    readonly until: number
    /** Resolves when the previous search has its slot: only one search of a request waits for a slot at a time. */
    turn: Promise<void>
    /** Whether the request has failed, so that nothing more is started. */
    over: boolean
  }
  readonly mode: Mode
  /** The number of items in the message. */
  readonly items: number
  /** The unchanging state of the records for the whole batch; undefined: each statement sees the newest state. */
  readonly state: RecordReader | undefined
  /** Adds facts about the item to its audit entry as soon as they are known, so that a rejected item has them too. */
  readonly addFacts: (facts: AskedFacts) => void
}

/** The work on a whole batch. */
export type BatchWork = Omit<ItemWork, 'addFacts'>

/** One item of a batch: an object whose timestamp and locale were checked, and nothing else. */
export interface Item {
  readonly timestamp: string
  readonly locale?: string
  readonly [member: string]: unknown
}

export interface ItemAnswer {
  /** The members of the item's answer, beside reference_id, timestamp and status. */
  readonly members: ReplyMembers
  /** The data for further pages, if the request has any. */
  readonly found?: FoundRecords
  /** The consent under which it was answered. */
  readonly use?: ConsentUse
}

/** One further page of an item's records. */
export interface PersistedPage {
  readonly page_size: number
  /** From 2. */
  readonly page_number: number
  /** Records in all pages. */
  readonly total: number
  /** The records of this page. */
  readonly record_ids: readonly RecordId[]
}

/** Does the work of one item. Throws ItemRejection when the item cannot be answered. */
export type ItemHandler = (work: ItemWork, item: Item) => Promise<ItemAnswer>

/** Answers a further page of one item. Throws ItemRejection when it cannot be answered. */
export type PageHandler = (work: ItemWork, item: Item, page: PersistedPage) => Promise<ItemAnswer>

export interface Mode {
  readonly name: ModeName
  /** The slots of the mode's searches. */
  readonly searchSlots: SearchSlots
  /** Seconds after which no further search of a batch is begun. */
  readonly searchTime: number
}

export type Modes = Readonly<Record<ModeName, Mode>>

/** The items of a message; none when its operation has no items. */
export function itemsOf({ operation }: Pick<Exchange, 'operation'>, message: Message): readonly Item[] {
  const { items } = operation.request
  return items === null ? [] : (message[items] as readonly Item[])
}
