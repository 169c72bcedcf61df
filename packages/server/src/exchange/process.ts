/**
 * The `process` task: answers an accepted exchange, page by page and, where its batch is large, portion by portion. What is
 * looked for is looked for once, on the first page; the others are made of the records that were found then.
 */

import { operation } from '@rollcall/protocol'
import { NoPlace } from '../admission/search-places.ts'
import type { Context } from '../context.ts'
import { BodyUnreadable } from '../keys/bodies.ts'
import type { Exchange, Message } from '../model/exchange.ts'
import type { Outcome } from '../model/outcome.ts'
import { openRequest, roomFor } from '../operations/accepted-request.ts'
import { itemsOf } from '../operations/batch.ts'
import { failedOutcome } from '../operations/failed.ts'
import { answerFurtherPage, answerMessage } from '../operations/handlers.ts'
import type { Item } from '../operations/item.ts'
import { type Place, PORTION, placeOf, portionsOf } from '../operations/portions.ts'
import { safeDatabaseError } from '../store/db/database-errors.ts'
import { ensureDrain } from '../store/deliveries/deliveries.ts'
import {
  type AcceptedExchange,
  findAccepted,
  findKeptPage,
  findNextStep,
  lookAgain,
  markStarted,
} from '../store/exchanges/accepted-exchanges.ts'
import { commitReply, type NewItem } from '../store/exchanges/replies.ts'
import { type Answered, type ReplyPage, sendReply } from './send-reply.ts'

/** Pages of one run; then another job goes on, so that other exchanges have their turn. */
const PAGES_IN_A_RUN = 16
/** Runs of a job that may fail; from the last of them on its sender is told that the registry failed. */
const RUNS = 5
/** Runs after which an exchange is not worked on again: those before were cut short, and it may be what ended the nodes. */
const CUT_SHORT = 20
/** Seconds, from and to, until another run begins of what was put off for want of a place or of room. */
const PUT_OFF = { from: 2, to: 30 }
/** Seconds until a run looks what became of the one that was ahead of it. */
const LOOK = 10

/** One run of its job. */
export interface Run {
  /** From 1. */
  readonly attempt: number
  /** Aborted when nothing more should be begun here: another job then goes on. */
  readonly signal?: AbortSignal
}

/**
 * Answers the exchange, or goes on with its further pages. Running it again changes nothing of what was done.
 * Rejects when it shall be tried again.
 */
export async function process(
  context: Context,
  correlation_id: string,
  { attempt, signal }: Run = { attempt: 1 },
): Promise<void> {
  const { db, directory, log } = context
  const accepted = await findAccepted(db, correlation_id)
  if (accepted === null) return
  // A run before this one may have ended between a commit and its attempt.
  if (accepted.page > 0) await ensureDrain(db, accepted.participant)
  if (!isOpen(accepted)) return
  const participant = await directory.participantById(accepted.participant)
  const registry = await directory.registryById(accepted.registry)
  if (participant?.status !== 'active' || registry === undefined) {
    await giveUp(context, accepted)
    return
  }
  const exchange: Answered = { ...accepted, operation: operation(accepted.operation), registry, participant }
  if (attempt > CUT_SHORT) {
    log.error({ correlation_id, attempt }, 'an exchange is not answered: every run of its job was cut short')
    await answerFailure(context, exchange, { opened: false })
    return
  }
  // A batch will want a place for its searches: before it is opened, which may be work as well.
  if (accepted.page === 0 && accepted.items > 1 && context.jobSearchPlaces.isFull(participant.id)) {
    await putOff(context, accepted)
    return
  }
  const room = roomFor(context, accepted)
  if (room === null) {
    await putOff(context, accepted)
    return
  }
  try {
    await answer(context, accepted, exchange, signal)
  } catch (error) {
    if (error instanceof NoPlace) return putOff(context, accepted)
    if (attempt < RUNS && !(error instanceof BodyUnreadable)) throw error
    log.error({ correlation_id, ...safeDatabaseError(error) }, 'an exchange could not be answered')
    await answerFailure(context, exchange)
  } finally {
    room.release()
  }
}

/** The jobs in work are for others as well: it comes again, not at one time with all that were put off. */
const putOff = ({ db }: Context, { correlation_id }: AcceptedExchange): Promise<void> =>
  lookAgain(db, correlation_id, PUT_OFF.from + Math.random() * (PUT_OFF.to - PUT_OFF.from))

const isOpen = ({ state }: AcceptedExchange): boolean => state === 'accepted' || state === 'replying'

/** Whoever may not call any more is sent nothing. */
async function giveUp({ db, log }: Context, { correlation_id, page }: AcceptedExchange): Promise<void> {
  const nothing = { items: [], delivery: null, claim: null, more: false }
  await commitReply(db, { correlation_id, from: page, page, state: 'failed', ...nothing })
  log.info({ correlation_id }, 'an exchange is not answered: its sender or registry is not there any more')
}

async function answer(
  context: Context,
  accepted: AcceptedExchange,
  answered: Answered,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { header, message } = await openRequest(context, accepted)
  const exchange: Exchange = { ...answered, header, received_at: accepted.received_at }
  const end = accepted.page + PAGES_IN_A_RUN
  for (let from = accepted.page; ; ) {
    const step = await stepAfter(context, accepted, from)
    if (step === null) return
    const place = placeOf(step, accepted.items)
    const made =
      place.page === 1
        ? await firstPage(context, exchange, message, accepted, place)
        : await furtherPage(context, exchange, message, place)
    const goesOn = made.goesOn || (await othersGoOn(context, accepted, step))
    const more = goesOn && (step >= end || signal?.aborted === true)
    const state = goesOn ? 'replying' : 'replied'
    const committed = await sendReply(context, answered, { ...made, state, page: step, from, more })
    if (!committed) return overtaken(context, accepted)
    if (!goesOn || more) return
    from = step
  }
}

/** Another run is ahead. The job of this one ends with it, and whether the other gets to its end nobody knows. */
async function overtaken({ db }: Context, { correlation_id, participant }: AcceptedExchange): Promise<void> {
  await ensureDrain(db, participant)
  await lookAgain(db, correlation_id, LOOK)
}

/** The step that follows another one; null for none. Without portions it is the next page, of which there is one. */
async function stepAfter(
  { db }: Context,
  { correlation_id, items }: AcceptedExchange,
  step: number,
): Promise<number | null> {
  const portions = portionsOf(items)
  if (portions === 1 || step < portions) return step + 1
  return findNextStep(db, correlation_id, step, { portions, portion: PORTION })
}

/** Whether, beside the items of this step, others have pages yet to come. */
async function othersGoOn(context: Context, accepted: AcceptedExchange, step: number): Promise<boolean> {
  return portionsOf(accepted.items) > 1 && (await stepAfter(context, accepted, step)) !== null
}

type Step = Pick<ReplyPage, 'outcome' | 'items'> & {
  /** Whether its own items have a page after this one. */
  readonly goesOn: boolean
}

async function firstPage(
  context: Context,
  exchange: Exchange,
  message: Message,
  { items, correlation_id }: AcceptedExchange,
  place: Place,
): Promise<Step> {
  // One statement sees one state by itself. More of them take their time, of which whoever asks is told.
  const single = items <= 1
  if (!single) await markStarted(context.db, correlation_id)
  const outcome = single
    ? await answerMessage(context, exchange, message, {})
    : await context.jobSearchPlaces.run(exchange.participant.id, () =>
        context.records.session((state) => answerMessage(context, exchange, message, { state }, place)),
      )
  const kept = keptItems(outcome, place)
  return { outcome, items: kept, goesOn: kept.some(({ record_ids }) => record_ids !== null) }
}

/** Every item, so that it can be asked for by its reference_id; with ids, where another page follows. */
function keptItems({ items = [] }: Outcome, { from }: Place): readonly NewItem[] {
  return items.map(({ reference_id, status, found }, index) => {
    const total = found?.record_ids.length ?? null
    const page_size = found?.page_size ?? null
    const goesOn = total !== null && page_size !== null && total > page_size
    return {
      position: from + index,
      reference_id,
      status,
      total,
      page_size,
      record_type: found?.record_type ?? null,
      record_ids: goesOn ? (found?.record_ids ?? null) : null,
    }
  })
}

async function furtherPage(
  context: Context,
  exchange: Exchange,
  message: Message,
  place: Place,
): Promise<Step> {
  const { page } = place
  const kept = await findKeptPage(context.db, exchange.correlation_id, page, place)
  const pages = new Map(kept.map(({ position, ...rest }) => [position, { ...rest, page_number: page }]))
  const outcome = await answerFurtherPage(context, exchange, message, pages)
  return { outcome, items: [], goesOn: kept.some(({ total, page_size }) => total > page * page_size) }
}

/**
 * The registry's own failure is said, never kept silent: in the next page, for every item it was to have.
 * @param options.opened whether the request may be opened for that
 */
async function answerFailure(
  context: Context,
  exchange: Answered,
  { opened }: { readonly opened: boolean } = { opened: true },
): Promise<void> {
  const accepted = await findAccepted(context.db, exchange.correlation_id)
  if (accepted === null) return
  // What failed may have been the attempt, after its page was committed.
  if (accepted.page > 0) await ensureDrain(context.db, accepted.participant)
  if (!isOpen(accepted)) return
  const from = accepted.page
  const step = await stepAfter(context, accepted, from)
  if (step === null) return
  const place = placeOf(step, accepted.items)
  const items = opened ? await unansweredItems(context, accepted, exchange, place) : []
  const outcome = failedOutcome(exchange, accepted.transaction_id, items, {
    page: step,
    count: accepted.items,
  })
  await sendReply(context, exchange, { outcome, page: step, from, state: 'failed', items: [], more: false })
}

/** Those that a page was to come of. */
async function unansweredItems(
  context: Context,
  accepted: AcceptedExchange,
  exchange: Answered,
  { page, from }: Place,
): Promise<readonly Item[]> {
  const { db } = context
  const { correlation_id } = accepted
  const items = await readableItems(context, accepted, exchange)
  const kept = async (number: number, range: { from: number; to: number }): Promise<readonly Item[]> => {
    const found = await findKeptPage(db, correlation_id, number, range)
    return found.flatMap(({ position }) => items[position] ?? [])
  }
  // Portions before this one have had the page, and may have another.
  const behind = await kept(page + 1, { from: 0, to: from })
  const ahead = page === 1 ? items.slice(from) : await kept(page, { from, to: accepted.items })
  return [...behind, ...ahead]
}

/** None where the request cannot be read. */
async function readableItems(
  context: Context,
  accepted: AcceptedExchange,
  exchange: Answered,
): Promise<readonly Item[]> {
  try {
    return itemsOf(exchange, (await openRequest(context, accepted)).message)
  } catch (error) {
    if (error instanceof BodyUnreadable) return []
    throw error
  }
}
