/** Answers a batch item by item. The rejection of an item is reported in that item; another error fails the request. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { currentTimestamp } from '@rollcall/base/shared/clock'
import { createSemaphore } from '@rollcall/base/shared/semaphore'
import { insertConsentUses, isAnyConsentEnded } from '@rollcall/consents/store/consent-uses'
import type { ConsentUse } from '@rollcall/core/model/consent'
import { checkPeerWaits, type Exchange, referenceId } from '@rollcall/core/model/exchange'
import { type AuditedItem, OutcomeOutdated, type ReplyMembers, type RequestItemAuditFacts } from '@rollcall/core/model/outcome'
import { ItemRejection, isWithinWindow } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import {
  type AnswerDeps,
  batchItemsOf,
  type FurtherPage,
  type HandlerInputSharedByItems,
  type Item,
  type ItemAnswer,
  type ItemHandler,
  type ItemHandlerInput,
  type MessageToAnswer,
  type PageHandler,
} from './item.ts'
import type { FoundRecords, Outcome } from './outcome.ts'

/** The most items of a batch that are answered at the same time: enough to use the database well, few enough to share it. */
const MOST_ITEMS_AT_ONCE = 4

/** Answers every item of the message, and counts the answers for the header of the reply (N7). */
export async function answerBatch(deps: AnswerDeps, asked: MessageToAnswer, handle: ItemHandler): Promise<Outcome> {
  const { exchange, message } = asked
  const batch = batchItemsOf(exchange, message)
  const work = makeHandlerInputSharedByItems(deps, asked, batch.length)
  const seen = new Set<string>(asked.earlier)
  const repeated = batch.map(({ reference_id }) => {
    if (typeof reference_id !== 'string') return false
    if (seen.has(reference_id)) return true
    seen.add(reference_id)
    return false
  })
  const answers = await answerItems(work, batch, (item, index) =>
    answerItem(work, item, async (own) => {
      checkReferenceId(item.reference_id, repeated[index] === true)
      checkTimestamp(item.timestamp, deps.limits.timestamp_window, exchange.received_at)
      return handle(own, item)
    }),
  )
  // In the synchronous mode the consents are checked before the metrics count the items: if a consent has ended, all items are
  // answered again, and must not be counted twice.
  const effects = await recheckConsents(deps, asked, answers)
  for (const { answer } of answers) {
    deps.metrics.itemAnswered(exchange.operation.name, answer.status, answer.status_reason_code ?? 'none')
  }
  const items = answers.map(({ answer: { reference_id, status }, found }) => ({ reference_id, status, ...(found && { found }) }))
  return { ...outcomeOfItems(exchange, answers), ...effects, items }
}

/** Answers a message that is one question. The answer has one item. @param reference_id the reference_id of the item */
export async function answerOneQuestionMessage(
  deps: AnswerDeps,
  asked: MessageToAnswer,
  reference_id: string,
  answer: (work: ItemHandlerInput) => Promise<ItemAnswer>,
): Promise<Outcome> {
  const { exchange } = asked
  const item = { reference_id, timestamp: exchange.received_at.toISOString() }
  const answered = await answerItem(makeHandlerInputSharedByItems(deps, asked, 1), item, answer)
  const effects = await recheckConsents(deps, asked, [answered])
  const { status, status_reason_code = 'none' } = answered.answer
  deps.metrics.itemAnswered(exchange.operation.name, status, status_reason_code)
  return { ...outcomeOfItems(exchange, [answered]), ...effects }
}

/** Answers a further page. @param pages the page of each item that has one, by the item's position */
export async function answerFurtherBatchPage(
  deps: AnswerDeps,
  asked: MessageToAnswer,
  pages: ReadonlyMap<number, FurtherPage>,
  handle: PageHandler,
): Promise<Outcome> {
  const { exchange, message } = asked
  const batch = batchItemsOf(exchange, message)
  const work = makeHandlerInputSharedByItems(deps, asked, batch.length)
  const onPage = [...pages].flatMap(([position, page]) => {
    const item = batch[position]
    return item === undefined ? [] : [{ item, page }]
  })
  const answers = await answerItems(work, onPage, ({ item, page }) => answerItem(work, item, (own) => handle(own, item, page)))
  return outcomeOfItems(exchange, answers)
}

/**
 * Makes the values that the items of a batch share. A message with one item gets no time limit here: the limits of its search
 * slot and of its statements are enough.
 */
function makeHandlerInputSharedByItems(
  deps: AnswerDeps,
  { mode: name, exchange, state }: MessageToAnswer,
  items: number,
): HandlerInputSharedByItems {
  const { reply_bytes: bytes, reply_records: records, asked_identifiers: identifiers } = deps.limits
  const mode = deps.modes[name]
  const until = items === 1 ? Number.POSITIVE_INFINITY : deps.clock.now() + mode.searchTime * 1_000
  const budget = { bytes, records, identifiers, until, slotTurns: createSemaphore(1), over: false }
  return { deps, exchange, mode, items, state, budget }
}

/**
 * Answers the elements: the items of a batch, or on a further page the items that have this page. Returns the results in their
 * order. Several loops (`worker`) take one element after another. A batch that reads from a snapshot has only one loop, because
 * the statements of a snapshot run one after another.
 */
async function answerItems<Element, Result>(
  { exchange, state, budget }: HandlerInputSharedByItems,
  elements: readonly Element[],
  answer: (element: Element, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = new Array(elements.length)
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < elements.length) {
      checkPeerWaits(exchange)
      const index = next++
      results[index] = await answer(elements[index] as Element, index)
      // An item that is rejected immediately waits for nothing. Without this turn of the event loop, thousands of such items
      // would block the thread.
      if (next < elements.length) await nextTurn()
    }
  }
  const workers = state === undefined ? MOST_ITEMS_AT_ONCE : 1
  const begun = Array.from({ length: Math.min(workers, elements.length) }, worker)
  // If one worker fails, the request fails, so the other workers begin no further item.
  try {
    await Promise.all(begun)
  } finally {
    next = elements.length
    budget.over = true
  }
  return results
}

/** The outcome of one item: its answer for the reply, and what is stored and audited beside the answer. */
interface ItemOutcome {
  readonly answer: ReplyMembers & {
    readonly reference_id: string
    readonly timestamp: string
    readonly status: 'succ' | 'rjct'
    readonly status_reason_code?: string
    readonly status_reason_message?: string
  }
  readonly found?: FoundRecords | undefined
  readonly use?: ConsentUse | undefined
  readonly audited: AuditedItem
}

/**
 * Checks again that no consent has ended while the items were answered; otherwise they are answered again. In the synchronous
 * mode the check runs now, and there is no effect. In the asynchronous mode the check is returned as an effect, which runs in the
 * transaction that stores the answer; another effect stores the uses of the consents.
 * @throws OutcomeOutdated the caller answers again: `makeOutcomeWithRetries` (answer-now.ts) or `sendPage` (answer-accepted.ts)
 */
async function recheckConsents(
  { db }: AnswerDeps,
  { mode, exchange }: MessageToAnswer,
  answers: readonly ItemOutcome[],
): Promise<Pick<Outcome, 'effects'>> {
  const uses = answers.flatMap(({ answer: { reference_id }, use }) => (use === undefined ? [] : [{ reference_id, use }]))
  if (uses.length === 0) return {}
  const checkHeld = async (client: Pick<ClientBase, 'query'>): Promise<void> => {
    const held = uses.map(({ use }) => use)
    if (await isAnyConsentEnded(client, held)) throw new OutcomeOutdated()
  }
  if (mode !== 'sync') {
    return { effects: [checkHeld, (client) => insertConsentUses(client, exchange.correlation_id, uses)] }
  }
  await checkHeld(db.pool)
  return {}
}

async function answerItem(
  work: HandlerInputSharedByItems,
  item: Item,
  handle: (work: ItemHandlerInput) => Promise<ItemAnswer>,
): Promise<ItemOutcome> {
  const reference_id = referenceId(item)
  const locale = item.locale === undefined ? {} : { locale: item.locale }
  let facts: RequestItemAuditFacts = {}
  const addFacts = (known: RequestItemAuditFacts): void => {
    facts = { ...facts, ...known }
  }
  try {
    const { members, found, use } = await handle({ ...work, addFacts })
    const timestamp = currentTimestamp(work.deps.clock)
    const answer = { reference_id, timestamp, status: 'succ', ...members, ...locale } as const
    return { answer, found, use, audited: { ...facts, code: answer.status } }
  } catch (error) {
    if (!(error instanceof ItemRejection)) throw error
    const { code: status_reason_code, message: status_reason_message } = error
    const timestamp = currentTimestamp(work.deps.clock)
    const said = { status_reason_code, status_reason_message }
    const answer = { reference_id, timestamp, status: 'rjct', ...said, ...locale } as const
    return { answer, audited: { ...facts, code: status_reason_code } }
  }
}

function checkReferenceId(reference_id: unknown, repeated: boolean): void {
  // An id that is too long is cut in the answer, so the sender would not get it back unchanged.
  if (reference_id === '' || reference_id !== referenceId({ reference_id })) {
    throw new ItemRejection('rjct.reference_id.invalid', 'reference_id: must be a string of 1 to 99 characters')
  }
  if (repeated) {
    throw new ItemRejection('rjct.reference_id.duplicate', 'reference_id: names an earlier item of this batch')
  }
}

/**
 * Checks the timestamp of an item.
 * @param window seconds; 0: no limit
 * @param received the time of the request: waiting for the answer does not make an item older
 */
function checkTimestamp(timestamp: string, window: number, received: Date): void {
  if (isWithinWindow(timestamp, window, received.getTime())) return
  throw new ItemRejection('rjct.timestamp.invalid', `timestamp: must lie within ${window} seconds of the receipt of the request`)
}

/** Removes the reason code from the answer of an item, for replies that have no member for it. The reason message stays. */
function withoutReasonCode({ status_reason_code: _, ...answer }: ItemOutcome['answer']): ItemOutcome['answer'] {
  return answer
}

/** Makes the outcome of the message from the outcomes of its items: rjct when all items are rejected. */
function outcomeOfItems({ operation }: Exchange, answered: readonly ItemOutcome[]): Outcome {
  const answers = answered.map(({ answer }) => (operation.codes === null ? withoutReasonCode(answer) : answer))
  const counts = { total_count: answers.length, completed_count: answers.length }
  const audited = answered.map((one) => one.audited)
  const outcome = { ...counts, audited, members: { [operation.reply.items ?? '']: answers } }
  const status_reason_message = rejectedCountText(answers)
  if (status_reason_message === undefined) return { status: 'succ', ...outcome }
  if (answers.some(({ status }) => status !== 'rjct')) return { status: 'succ', status_reason_message, ...outcome }
  return { status: 'rjct', status_reason_code: 'rjct.errors.too_many', status_reason_message, ...outcome }
}

/** Says how many items are rejected; undefined: none. */
export function rejectedCountText(items: readonly ReplyMembers[]): string | undefined {
  const rejected = items.filter(({ status }) => status === 'rjct').length
  return rejected === 0 ? undefined : `${rejected} of ${items.length} items rejected; see each item`
}
