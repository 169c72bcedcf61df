/** The types of one item of a batch and of its answer, for batches and item handlers. */

import type { Clock } from '@rollcall/base/shared/clock'
import type { Semaphore } from '@rollcall/base/shared/semaphore'
import type { ConsentChecks } from '@rollcall/consents/consents'
import type { Limits } from '@rollcall/core/limits'
import type { ConsentUse } from '@rollcall/core/model/consent'
import type { Exchange, Message, ModeName } from '@rollcall/core/model/exchange'
import type { ReplyMembers, RequestItemAuditFacts } from '@rollcall/core/model/outcome'
import type { Participant } from '@rollcall/core/model/participant'
import type { RecordReader, RecordSource } from '@rollcall/core/model/record-source'
import type { RecordId } from '@rollcall/core/model/records'
import type { Database } from '@rollcall/database/database'
import type { BodyEncryption } from '@rollcall/keys/bodies'
import type { Log } from '@rollcall/observe/log'
import type { Metrics } from '@rollcall/observe/metrics'
import type { GrantQuota } from '@rollcall/participants/admission/grant-quota'
import type { SearchSlots } from '@rollcall/participants/admission/search-slots'
import type { ReadingThreads } from '@rollcall/participants/reading/threads'
import type { FoundRecords } from './outcome.ts'

/** The dependencies for reading stored requests. */
export interface OpenRequestDeps {
  readonly db: Pick<Database, 'pool'>
  readonly bodies: Pick<BodyEncryption, 'decryptBody' | 'encryptBody'>
  /** The threads that parse large requests. */
  readonly reading: ReadingThreads
}

/** A message to be answered, with its exchange, its mode, and what the mode needs. */
export interface MessageToAnswer {
  readonly mode: ModeName
  readonly exchange: Exchange
  readonly message: Message
  /** For a chunk of a divided request: its reference_ids that an earlier chunk also has. */
  readonly earlier?: readonly string[]
  /** The snapshot of the records for the whole batch; absent: each statement sees the newest state. */
  readonly state?: RecordReader
  /** For an asynchronous message: the checked address for its answers; null: the message names none. */
  readonly sender_uri?: string | null
}

/** The dependencies of the operations. */
export interface AnswerDeps extends OpenRequestDeps {
  /** The clock for the time limits of searches, and for dates. */
  readonly clock: Pick<Clock, 'now' | 'date'>
  readonly consents: ConsentChecks
  readonly db: Database
  readonly grantQuota: GrantQuota
  readonly limits: Limits
  readonly log: Log
  readonly metrics: Pick<Metrics, 'itemAnswered' | 'searched' | 'emergencyUsed'>
  readonly modes: SearchLimitsByMode
  readonly recordsOf: (registry: { readonly id: number }) => RecordSource
  readonly turns: Semaphore
  /** True when a subscription can be notified at the `sender_uri` of its request, or at the participant's address. */
  readonly canNotify: (participant: Participant, sender_uri: string | null) => Promise<boolean>
}

/**
 * The values with which a handler answers one item. All items of a batch share them, also the budget, except `addFacts`.
 */
export interface ItemHandlerInput {
  readonly deps: AnswerDeps
  readonly exchange: Exchange
  readonly budget: {
    /** The bytes of records that may still be added to the answer; handlers subtract from it. */
    bytes: number
    /** The number of records that items may still find for all pages, if the answer can have further pages. */
    records: number
    /** The number of identifiers that the queries of further items may name (`takeRequestIdentifierBudget`). */
    identifiers: number
    /** The time, in milliseconds of `deps.clock.now()`, after which no search begins except look-ups (`runQueryInSlot`). */
    readonly until: number
    /** A semaphore of one: only one search of the request waits for a slot at a time. */
    readonly slotTurns: Semaphore
    /** True when the request has failed, or all its items are answered: its searches that still wait for a slot do not begin. */
    over: boolean
  }
  readonly mode: SearchLimitsOfMode
  /** The number of items in the message. */
  readonly items: number
  /** The snapshot of the records for the whole batch; undefined: each statement sees the newest state. */
  readonly state: RecordReader | undefined
  /** Adds facts about the item to its audit entry as soon as they are known, so that they are there for a rejected item too. */
  readonly addFacts: (facts: RequestItemAuditFacts) => void
}

/** The values that the handlers of all items of a batch share; each handler also gets its own `addFacts`. */
export type HandlerInputSharedByItems = Omit<ItemHandlerInput, 'addFacts'>

/** One item of a batch. Its timestamp and locale have the right form; its reference_id was not checked. */
export interface Item {
  readonly timestamp: string
  readonly locale?: string
  readonly [member: string]: unknown
}

/** The answer to one item, with the records for further pages and the consent that was used. */
export interface ItemAnswer {
  /** The members that the handler adds to the item's answer, beside reference_id, timestamp and status. */
  readonly members: ReplyMembers
  /** The found records, from which further pages are made; absent when the item can have no further pages. */
  readonly found?: FoundRecords
  /** Who used whose consent for this answer, and for which purpose, to be stored; absent when no consent was used. */
  readonly use?: ConsentUse
}

/** One further page of an item's records. */
export interface FurtherPage {
  readonly page_size: number
  /** The number of the page, from 2. */
  readonly page_number: number
  /** The number of records in all pages. */
  readonly total: number
  /** The ids of the records of this page. */
  readonly record_ids: readonly RecordId[]
}

/** Answers one item. @throws ItemRejection the item cannot be answered */
export type ItemHandler = (work: ItemHandlerInput, item: Item) => Promise<ItemAnswer>

/** Answers a further page of one item. @throws ItemRejection the page cannot be answered */
export type PageHandler = (work: ItemHandlerInput, item: Item, page: FurtherPage) => Promise<ItemAnswer>

/** The limits of searches, which differ between synchronous and asynchronous answers. */
export interface SearchLimitsOfMode {
  readonly name: ModeName
  /** The slots for searches in this mode. */
  readonly searchSlots: SearchSlots
  /** A batch of several items begins no search later than this many seconds after its start. One item alone has no such limit. */
  readonly searchTime: number
}

export type SearchLimitsByMode = Readonly<Record<ModeName, SearchLimitsOfMode>>

/** The items of a message; empty when its operation is no batch. */
export function batchItemsOf({ operation }: Pick<Exchange, 'operation'>, message: Message): readonly Item[] {
  const { items } = operation.request
  return items === null ? [] : (message[items] as readonly Item[])
}
