/** Summarises a message of a registry without its records. It reads answers, callbacks and status answers. */

import { CALLBACKS, isJsonObject, OPERATIONS } from '@rollcall/protocol'
import { countWithNoun } from '../output.ts'
import { toPrintableLine } from './printing.ts'

/** An envelope that was verified and decrypted. A rejection of a whole request has no `message`, only a header. */
export interface OpenedEnvelope {
  readonly header: object
  readonly message?: object
  readonly signed: boolean
  readonly encrypted?: boolean
}

export interface ItemSummary {
  readonly reference_id: string | null
  readonly status: string | null
  readonly code: string | null
  readonly reason: string | null
  readonly event: string | null
  /** The number of the item's records in this message; null when the item has no data. */
  readonly records: number | null
  /** The number of records on all pages; null when the message does not say. */
  readonly total_count: number | null
  readonly page_number: number | null
  readonly page_size: number | null
}

export interface MessageSummary {
  readonly sender_id: string | null
  readonly message_id: string | null
  readonly transaction_id: string | null
  readonly correlation_id: string | null
  readonly status: string | null
  readonly code: string | null
  readonly reason: string | null
  readonly signed: boolean
  readonly encrypted: boolean
  readonly items: readonly ItemSummary[]
}

type UncheckedObject = Readonly<Record<string, unknown>>

/** The names of the members that hold the items of a reply or callback, from OPERATIONS and CALLBACKS. */
const BATCH_MEMBER_NAMES = [
  ...new Set(
    [...OPERATIONS.map(({ reply }) => reply.items), ...CALLBACKS.map(({ message }) => message.items)].filter(
      (name) => name !== null,
    ),
  ),
]

export function summariseMessage({ header, message, signed, encrypted = false }: OpenedEnvelope): MessageSummary {
  const head = membersOrEmpty(header)
  const said = membersOrEmpty(message)
  return {
    sender_id: textOrNull(head.sender_id),
    message_id: textOrNull(head.message_id),
    transaction_id: textOrNull(said.transaction_id),
    correlation_id: textOrNull(said.correlation_id),
    status: textOrNull(head.status) ?? textOrNull(said.status),
    code: textOrNull(head.status_reason_code) ?? textOrNull(said.status_reason_code),
    reason: textOrNull(head.status_reason_message) ?? textOrNull(said.status_reason_message),
    signed,
    encrypted,
    items: itemsOf(said).map(itemSummary),
  }
}

/** Lists the items of a message. Those of a status response are in the message that it contains (`txn_status`). */
export function itemsOf(message: object): readonly UncheckedObject[] {
  const said = membersOrEmpty(message)
  const status = membersOrEmpty(membersOrEmpty(said.txnstatus_response).txn_status)
  const holder = Object.keys(status).length > 0 ? status : said
  for (const name of BATCH_MEMBER_NAMES) {
    const batch = holder[name]
    if (Array.isArray(batch)) return batch.map(membersOrEmpty)
  }
  return []
}

/** Lists the records of an item; a single record, which is no list, is a list of one. */
export function recordsOf(item: UncheckedObject): readonly unknown[] {
  const { reg_records } = membersOrEmpty(item.data)
  if (reg_records === undefined || reg_records === null) return []
  return Array.isArray(reg_records) ? reg_records : [reg_records]
}

function itemSummary(item: UncheckedObject): ItemSummary {
  const { total_count, page_number, page_size } = membersOrEmpty(item.pagination)
  return {
    reference_id: textOrNull(item.reference_id),
    status: textOrNull(item.status),
    code: textOrNull(item.status_reason_code),
    reason: textOrNull(item.status_reason_message),
    event: textOrNull(membersOrEmpty(item.data).reg_event_type),
    records: isJsonObject(item.data) ? recordsOf(item).length : null,
    total_count: countOrNull(total_count),
    page_number: countOrNull(page_number),
    page_size: countOrNull(page_size),
  }
}

/** True when further pages can be asked for; false also when the item lacks a page number, a page size or a total. */
export function hasFurtherPages({ page_number, page_size, total_count }: ItemSummary): boolean {
  if (page_number === null || page_size === null || total_count === null) return false
  return page_number * page_size < total_count
}

/** Makes the line of text for an item, such as `item 1: succ, 100 of 1234 records, page 1`. */
export function itemText(item: ItemSummary): string {
  const { status, code, reason, event } = item
  const why = [code, reason].filter((part) => part !== null).join(': ')
  const parts = [event, status, recordsText(item), why === '' ? null : why].filter((part) => part !== null)
  return toPrintableLine(`item ${item.reference_id ?? '?'}: ${parts.join(', ')}`)
}

function recordsText(item: ItemSummary): string | null {
  const { records, total_count, page_number } = item
  if (records === null) return null
  if (page_number === null || (page_number === 1 && !hasFurtherPages(item))) return countWithNoun(records, 'record')
  return `${records} of ${countWithNoun(total_count ?? records, 'record')}, page ${page_number}`
}

/** Makes a line of text for each name with its value; names whose value is null are left out. */
export function nameValueLines(rows: Readonly<Record<string, string | null>>): string[] {
  return Object.entries(rows).flatMap(([name, value]) =>
    value === null ? [] : [toPrintableLine(`  ${name.padEnd(12)} ${value}`)],
  )
}

/** Returns the status as text, such as `succ`, or `rjct` with the registry's reason; null when the message has none. */
export function outcomeText({ status, code, reason }: Pick<MessageSummary, 'status' | 'code' | 'reason'>): string | null {
  const parts = [status, code, reason].filter((part) => part !== null)
  return parts.length === 0 ? null : parts.join(', ')
}

const membersOrEmpty = (value: unknown): UncheckedObject => (isJsonObject(value) ? value : {})
const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const countOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null)
