/** What is known of one item of a batch, and what is done with it: shared by the batches and by those who handle items. */

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
import type { SearchGate } from '@rollcall/participants/admission/search-gate'
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
  /** Of a chunk: reference_ids that earlier chunks of the request have as well. */
  readonly earlier?: readonly string[]
  /** The one state of the records in which it is answered; else each statement sees the newest. */
  readonly state?: RecordReader
  /** Of a message that is answered later: where its answers go, as it was checked; null: it names no address. */
  readonly sender_uri?: string | null
}

/** What the answers of operations need of the server. */
export interface Answering extends OpeningRequest {
  /** By which the time of searches is measured. */
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
  /** Whether there is an address for notifications of a participant's subscription that was asked for from `sender_uri`. */
  readonly canNotify: (participant: Participant, sender_uri: string | null) => Promise<boolean>
}

/** What an item handler needs: where it works, for whom, and how much the whole answer may still grow. */
export interface ItemWork {
  readonly parts: Answering
  readonly exchange: Exchange
  readonly budget: {
    /** Of records that the answer may still hold; handlers take from it. */
    bytes: number
    /** Records that its items may still find, on all pages, where further pages follow. */
    records: number
    /** Until when searches are begun, by the clock of `parts`. */
    readonly until: number
    /** When the search before has its turn: of one request one search waits for a turn at a time. */
    turn: Promise<void>
    /** Whether the request has failed, so that nothing more is begun. */
    over: boolean
  }
  readonly mode: Mode
  /** Of the message. */
  readonly items: number
  /** The one state of the records in which a batch is answered; else each statement sees the newest. */
  readonly state: RecordReader | undefined
  /** Says what the item asks, for its account: as soon as it is known, so that a rejected item has it too. */
  readonly asks: (facts: AskedFacts) => void
}

/** The work on a whole batch. */
export type BatchWork = Omit<ItemWork, 'asks'>

/** One item of a batch: an object; nothing more is known of it than its well-formed timestamp and locale. */
export interface Item {
  readonly timestamp: string
  readonly locale?: string
  readonly [member: string]: unknown
}

export interface ItemAnswer {
  /** Of the item's answer, beside reference_id, timestamp and status. */
  readonly members: ReplyMembers
  /** The data for further pages, if the request has them. */
  readonly found?: FoundRecords
  /** The consent under which it was answered. */
  readonly use?: ConsentUse
}

/** One further page of what an item found. */
export interface PersistedPage {
  readonly page_size: number
  /** From 2. */
  readonly page_number: number
  /** Records in all pages. */
  readonly total: number
  /** Of this page. */
  readonly record_ids: readonly RecordId[]
}

/** Does the work of one item. Throws ItemRejection when the item cannot be answered. */
export type ItemHandler = (work: ItemWork, item: Item) => Promise<ItemAnswer>

/** Answers a further page of one item. Throws ItemRejection when it cannot be answered. */
export type PageHandler = (work: ItemWork, item: Item, page: PersistedPage) => Promise<ItemAnswer>

export interface Mode {
  readonly name: ModeName
  /** Shares out the connections of the mode's searches. */
  readonly gate: SearchGate
  /** Seconds after which no further search of a batch is begun. */
  readonly searchTime: number
}

export type Modes = Readonly<Record<ModeName, Mode>>

/** The items of a message as its operation names them. */
export function itemsOf({ operation }: Pick<Exchange, 'operation'>, message: Message): readonly Item[] {
  const { items } = operation.request
  return items === null ? [] : (message[items] as readonly Item[])
}
