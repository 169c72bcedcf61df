/** Answers a batch item by item, in order: a fault of one item is said in that item, the others go on. */
import { ItemRejection, timestampInstant } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import { checkPeer, type Exchange, type Message } from '../exchange.ts'
import type { Outcome } from './outcome.ts'

/** What an item handler needs: where it works, for whom, and how much the whole answer may still grow. */
export interface ItemWork {
  readonly context: Context
  readonly exchange: Exchange
  readonly budget: {
    /** Of records that the answer may still hold; handlers take from it. */
    bytes: number
    /** Until when, by `performance.now()`, work that may be slow is begun. */
    readonly until: number
  }
}

/** One item of a batch: an object; nothing more is known of it than its well-formed timestamp and locale. */
export interface Item {
  readonly timestamp: string
  readonly locale?: string
  readonly [member: string]: unknown
}

/**
 * Does the work of one item and returns the members of its answer beside reference_id, timestamp and status.
 * Throws ItemRejection when the item cannot be answered.
 */
export type ItemHandler = (work: ItemWork, item: Item) => Promise<object>

/** Items of one batch that are worked on at the same time: enough to keep the database busy, not to own it. */
const CONCURRENCY = 4

/** Answers every item of the message and sums up, as N7 has it. */
export async function answerBatch(
  context: Context,
  exchange: Exchange,
  message: Message,
  handle: ItemHandler,
): Promise<Outcome> {
  const { operation } = exchange
  const { items, reply } = { items: operation.request.items ?? '', reply: operation.reply.items ?? '' }
  const batch = message[items] as readonly Item[]
  const { reply_bytes: bytes, batch_search_time } = context.limits
  const until = performance.now() + batch_search_time * 1_000
  const work: ItemWork = { context, exchange, budget: { bytes, until } }
  const seen = new Set<string>()
  const repeated = batch.map(({ reference_id }) => {
    if (typeof reference_id !== 'string' || seen.has(reference_id)) return typeof reference_id === 'string'
    seen.add(reference_id)
    return false
  })

  const answers: AnsweredItem[] = new Array(batch.length)
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < batch.length) {
      checkPeer(exchange)
      const index = next++
      const item = batch[index] as Item
      answers[index] = await answerItem(work, item, repeated[index] === true, handle)
    }
  }
  const workers = Array.from({ length: Math.min(CONCURRENCY, batch.length) }, worker)
  // When one of them fails the request fails: the others begin nothing more.
  await Promise.all(workers).finally(() => {
    next = batch.length
  })
  for (const { status, status_reason_code } of answers) {
    context.metrics.itemAnswered(operation.name, status, status_reason_code ?? 'none')
  }
  return { ...summary(answers), members: { [reply]: answers } }
}

interface AnsweredItem {
  readonly reference_id: string
  readonly timestamp: string
  readonly status: 'succ' | 'rjct'
  readonly status_reason_code?: string
  readonly status_reason_message?: string
}

async function answerItem(
  work: ItemWork,
  item: Item,
  repeated: boolean,
  handle: ItemHandler,
): Promise<AnsweredItem> {
  const { reference_id } = item
  const named = typeof reference_id === 'string' ? firstCharacters(reference_id, MAX_REFERENCE_ID) : ''
  const locale = item.locale === undefined ? {} : { locale: item.locale }
  try {
    checkReferenceId(reference_id, named, repeated)
    checkTimestamp(item.timestamp, work.context.limits.timestamp_window)
    const members = await handle(work, item)
    return { reference_id: named, timestamp: new Date().toISOString(), status: 'succ', ...members, ...locale }
  } catch (error) {
    if (!(error instanceof ItemRejection)) throw error
    const { code: status_reason_code, message: status_reason_message } = error
    return {
      reference_id: named,
      timestamp: new Date().toISOString(),
      status: 'rjct',
      status_reason_code,
      status_reason_message,
      ...locale,
    }
  }
}

/** N2: 1 to 99 characters, unique within the batch. */
const MAX_REFERENCE_ID = 99

/** Code points, as the schemas count them: half a surrogate pair could not be sent back. */
function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text
  return [...text.slice(0, count * 2)].slice(0, count).join('')
}

/** @param named what of it would be sent back: all of it, unless it is too long */
function checkReferenceId(reference_id: unknown, named: string, repeated: boolean): void {
  if (reference_id === '' || reference_id !== named) {
    throw new ItemRejection(
      'rjct.reference_id.invalid',
      'reference_id: must be a string of 1 to 99 characters',
    )
  }
  if (repeated) {
    throw new ItemRejection(
      'rjct.reference_id.duplicate',
      'reference_id: names an earlier item of this batch',
    )
  }
}

/** @param window seconds around now, 0 for none */
function checkTimestamp(timestamp: string, window: number): void {
  if (window === 0) return
  const instant = timestampInstant(timestamp)
  if (instant !== null && Math.abs(Date.now() - instant) <= window * 1_000) return
  throw new ItemRejection('rjct.timestamp.invalid', `timestamp: must lie within ${window} seconds of now`)
}

function summary(answers: readonly AnsweredItem[]): Omit<Outcome, 'members'> {
  const counts = { total_count: answers.length, completed_count: answers.length }
  const rejected = answers.filter(({ status }) => status === 'rjct').length
  if (rejected === 0) return { status: 'succ', ...counts }
  const status_reason_message = `${rejected} of ${answers.length} items rejected; see each item`
  if (rejected < answers.length) return { status: 'succ', status_reason_message, ...counts }
  return { status: 'rjct', status_reason_code: 'rjct.errors.too_many', status_reason_message, ...counts }
}
