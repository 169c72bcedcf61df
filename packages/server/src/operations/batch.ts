/** Answers a batch item by item, in order: a fault of one item is said in that item, the others go on. */

import { setImmediate as turn } from 'node:timers/promises'
import { ItemRejection, isWithinWindow } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import { checkPeer, type Exchange, type Message } from '../model/exchange.ts'
import type { FoundRecords, Outcome, ReplyMembers } from '../model/outcome.ts'
import { referenceId } from '../model/reference-id.ts'
import type { Item, ItemAnswer, ItemHandler, ItemWork, KeptPage, PageHandler, Reading } from './item.ts'

/** Some items of a batch, by their positions. */
export interface Range {
  readonly from?: number
  readonly to?: number
}

/** Items of one batch that are worked on at the same time: enough to keep the database busy, not to own it. */
const CONCURRENCY = 4

/**
 * Answers every item of the message and sums up, as N7 has it.
 * @param reading given where further pages follow: the outcome then tells what they are made of
 * @param range of positions to answer: the first, and the first behind them; all unless said otherwise
 */
export async function answerBatch(
  context: Context,
  exchange: Exchange,
  message: Message,
  handle: ItemHandler,
  reading?: Reading,
  range: Range = {},
): Promise<Outcome> {
  const { operation } = exchange
  const batch = itemsOf(exchange, message)
  const { from = 0, to } = range
  const work = workOf(context, exchange, reading)
  const seen = new Set<string>()
  const repeated = batch.map(({ reference_id }) => {
    if (typeof reference_id !== 'string' || seen.has(reference_id)) return typeof reference_id === 'string'
    seen.add(reference_id)
    return false
  })
  const answers = await inOrder(work, batch.slice(from, to), (item, index) =>
    answerItem(item, async () => {
      checkReferenceId(item.reference_id, repeated[from + index] === true)
      checkTimestamp(item.timestamp, context.limits.timestamp_window, exchange.received_at?.getTime())
      return handle(work, item)
    }),
  )
  for (const { answer } of answers) {
    context.metrics.itemAnswered(operation.name, answer.status, answer.status_reason_code ?? 'none')
  }
  const items = answers.map(({ answer: { reference_id, status }, found }) => ({
    reference_id,
    status,
    ...(found && { found }),
  }))
  return { ...outcomeOf(exchange, answers), ...(reading && { items }) }
}

/** A further page of items of a message that was answered before: of those that have one, by their positions. */
export async function answerPage(
  context: Context,
  exchange: Exchange,
  message: Message,
  pages: ReadonlyMap<number, KeptPage>,
  handle: PageHandler,
): Promise<Outcome> {
  const work = workOf(context, exchange)
  const batch = itemsOf(exchange, message)
  const asked = [...pages].flatMap(([position, page]) => {
    const item = batch[position]
    return item === undefined ? [] : [{ item, page }]
  })
  const answers = await inOrder(work, asked, ({ item, page }) =>
    answerItem(item, () => handle(work, item, page)),
  )
  return outcomeOf(exchange, answers)
}

/** The items of a message as its operation names them. */
export function itemsOf({ operation }: Pick<Exchange, 'operation'>, message: Message): readonly Item[] {
  const { items } = operation.request
  return items === null ? [] : (message[items] as readonly Item[])
}

function workOf(context: Context, exchange: Exchange, reading?: Reading): ItemWork {
  const { reply_bytes: bytes, reply_records: records } = context.limits
  const searchTime = searchTimeOf(context, reading)
  const until = performance.now() + searchTime * 1_000
  return { context, exchange, budget: { bytes, records, searchTime, until }, ...(reading && { reading }) }
}

/** Seconds. Whoever is answered later waits as long as it takes, unless what it reads keeps the database from tidying. */
function searchTimeOf({ limits }: Context, reading?: Reading): number {
  if (reading === undefined) return limits.batch_search_time
  return reading.state === undefined ? Number.POSITIVE_INFINITY : limits.snapshot_search_time
}

/** A snapshot of the database answers one statement at a time, so there is nothing to gain from several. */
async function inOrder<Element, Result>(
  { exchange, reading }: ItemWork,
  elements: readonly Element[],
  answer: (element: Element, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = new Array(elements.length)
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < elements.length) {
      checkPeer(exchange)
      const index = next++
      results[index] = await answer(elements[index] as Element, index)
      // Items that are rejected wait for nothing: without it ten thousand of them are one piece of work.
      await turn()
    }
  }
  const workers = reading?.state === undefined ? CONCURRENCY : 1
  const begun = Array.from({ length: Math.min(workers, elements.length) }, worker)
  // When one of them fails the request fails: the others begin nothing more.
  await Promise.all(begun).finally(() => {
    next = elements.length
  })
  return results
}

interface Answered {
  readonly answer: ReplyMembers & {
    readonly reference_id: string
    readonly timestamp: string
    readonly status: 'succ' | 'rjct'
    readonly status_reason_code?: string
    readonly status_reason_message?: string
  }
  readonly found: FoundRecords | undefined
}

async function answerItem(item: Item, work: () => Promise<ItemAnswer>): Promise<Answered> {
  const reference_id = referenceId(item)
  const locale = item.locale === undefined ? {} : { locale: item.locale }
  try {
    const { members, found } = await work()
    const timestamp = new Date().toISOString()
    return { answer: { reference_id, timestamp, status: 'succ', ...members, ...locale }, found }
  } catch (error) {
    if (!(error instanceof ItemRejection)) throw error
    const { code: status_reason_code, message: status_reason_message } = error
    const timestamp = new Date().toISOString()
    const said = { status_reason_code, status_reason_message }
    return { answer: { reference_id, timestamp, status: 'rjct', ...said, ...locale }, found: undefined }
  }
}

function checkReferenceId(reference_id: unknown, repeated: boolean): void {
  // What would be sent back is all of it, unless it is too long.
  if (reference_id === '' || reference_id !== referenceId({ reference_id })) {
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

/**
 * @param window seconds, 0 for none
 * @param received when: what waited for its answer is not older for that
 */
function checkTimestamp(timestamp: string, window: number, received = Date.now()): void {
  if (isWithinWindow(timestamp, window, received)) return
  throw new ItemRejection('rjct.timestamp.invalid', `timestamp: must lie within ${window} seconds of now`)
}

function outcomeOf({ operation }: Exchange, answered: readonly Answered[]): Outcome {
  const answers = answered.map(({ answer }) => answer)
  const counts = { total_count: answers.length, completed_count: answers.length }
  const outcome = { ...counts, members: { [operation.reply.items ?? '']: answers } }
  const rejected = answers.filter(({ status }) => status === 'rjct').length
  if (rejected === 0) return { status: 'succ', ...outcome }
  const status_reason_message = `${rejected} of ${answers.length} items rejected; see each item`
  if (rejected < answers.length) return { status: 'succ', status_reason_message, ...outcome }
  return { status: 'rjct', status_reason_code: 'rjct.errors.too_many', status_reason_message, ...outcome }
}
