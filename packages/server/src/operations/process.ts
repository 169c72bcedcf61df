/**
 * The `process` task: answers an accepted exchange, page by page. What is looked for is looked for once, on the first
 * page; the others are made of the records that were found then.
 */
import { operation } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Exchange, Message } from '../exchange.ts'
import { BodyClosed } from '../keys/bodies.ts'
import { type Answered, type ReplyPage, sendReply } from '../outbound/send-reply.ts'
import {
  type AcceptedExchange,
  findAccepted,
  findKeptPage,
  markStarted,
} from '../store/accepted-exchanges.ts'
import { safeDatabaseError } from '../store/database-errors.ts'
import { commitReply, ensureDrain, type NewItem } from '../store/deliveries.ts'
import { withSnapshot } from '../store/snapshot.ts'
import { openRequest } from './accepted-request.ts'
import { itemsOf } from './batch.ts'
import { failedOutcome } from './failed.ts'
import { answerFurtherPage, answerMessage } from './handlers.ts'
import type { Outcome } from './outcome.ts'

/** Pages of one run; then another job goes on, so that other exchanges have their turn. */
const PAGES_IN_A_RUN = 16
/** Runs of a job that may fail; from the last of them on its sender is told that the registry failed. */
const RUNS = 5

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
  try {
    await answer(context, accepted, exchange, signal)
  } catch (error) {
    if (attempt < RUNS && !(error instanceof BodyClosed)) throw error
    log.error({ correlation_id, ...safeDatabaseError(error) }, 'an exchange could not be answered')
    await answerFailure(context, exchange)
  }
}

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
  const exchange: Exchange = { ...answered, header }
  const end = accepted.page + PAGES_IN_A_RUN
  for (let page = accepted.page + 1; ; page += 1) {
    const step =
      page === 1
        ? await firstPage(context, exchange, message, accepted)
        : await furtherPage(context, exchange, message, page)
    const goesOn = step.state === 'replying'
    const more = goesOn && (page === end || signal?.aborted === true)
    const committed = await sendReply(context, answered, { ...step, page, more })
    if (!committed || !goesOn || more) return
  }
}

type Step = Pick<ReplyPage, 'outcome' | 'state' | 'items'>

async function firstPage(
  context: Context,
  exchange: Exchange,
  message: Message,
  { items, correlation_id }: AcceptedExchange,
): Promise<Step> {
  // One statement sees one state by itself. More of them take their time, of which whoever asks is told.
  const single = items <= 1
  if (!single) await markStarted(context.db, correlation_id)
  const outcome = single
    ? await answerMessage(context, exchange, message, { ids: true })
    : await withSnapshot(context.db, (snapshot) =>
        answerMessage(context, exchange, message, { ids: true, snapshot }),
      )
  const kept = keptItems(outcome)
  const goesOn = kept.some(({ record_ids }) => record_ids !== null)
  return { outcome, state: goesOn ? 'replying' : 'replied', items: kept }
}

/** Every item, so that it can be asked for by its reference_id; with ids, where another page follows. */
function keptItems({ items = [] }: Outcome): readonly NewItem[] {
  return items.map(({ reference_id, status, found }, position) => {
    const total = found?.record_ids.length ?? null
    const page_size = found?.page_size ?? null
    const goesOn = total !== null && page_size !== null && total > page_size
    return {
      position,
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
  page: number,
): Promise<Step> {
  const kept = await findKeptPage(context.db, exchange.correlation_id, page)
  const pages = new Map(kept.map(({ position, ...rest }) => [position, { ...rest, page_number: page }]))
  const outcome = await answerFurtherPage(context, exchange, message, pages)
  const goesOn = kept.some(({ total, page_size }) => total > page * page_size)
  return { outcome, state: goesOn ? 'replying' : 'replied', items: [] }
}

/** The registry's own failure is said, never kept silent (issue): in the next page, for every item it was to have. */
async function answerFailure(context: Context, exchange: Answered): Promise<void> {
  const accepted = await findAccepted(context.db, exchange.correlation_id)
  if (accepted === null || !isOpen(accepted)) return
  const page = accepted.page + 1
  const positions =
    page === 1
      ? null
      : (await findKeptPage(context.db, accepted.correlation_id, page)).map(({ position }) => position)
  const items = await readableItems(context, accepted, exchange)
  const outcome = failedOutcome(
    exchange,
    positions === null ? items : positions.flatMap((position) => items[position] ?? []),
    { page, count: accepted.items },
  )
  await sendReply(context, exchange, { outcome, page, state: 'failed', items: [], more: false })
}

/** None where the request cannot be read. */
async function readableItems(context: Context, accepted: AcceptedExchange, exchange: Answered) {
  try {
    return itemsOf(exchange, (await openRequest(context, accepted)).message)
  } catch (error) {
    if (error instanceof BodyClosed) return []
    throw error
  }
}
