/** Answers a status question about an earlier exchange of the sender. */

import { currentTimestamp } from '@rollcall/base/shared/clock'
import { runInSlot } from '@rollcall/base/shared/semaphore'
import { findConsentUses } from '@rollcall/consents/store/consent-uses'
import { deliveryBodyBinding } from '@rollcall/core/model/delivery'
import type { Exchange } from '@rollcall/core/model/exchange'
import type { ReplyMembers } from '@rollcall/core/model/outcome'
import { isConsentGranted, isLimitedToOnePerson } from '@rollcall/core/policy/basis'
import { readGrantAndProtectionChanges } from '@rollcall/delivery/store/deliveries/deliveries'
import { findSentPage, type StoredAnswerPage } from '@rollcall/delivery/store/deliveries/sent-pages'
import { BodyUnreadable, parseDecryptedBody } from '@rollcall/keys/bodies'
import { isJsonObject, type JsonObject, type Operation, type Status } from '@rollcall/protocol'
import {
  type AcceptedExchange,
  type ExchangeAskedAbout,
  findChunkStartPositions,
  findItemStatuses,
  SMALL_REQUEST_BYTES,
} from '../store/exchanges/accepted-exchanges.ts'
import { findReceipt, receiptBodyBinding } from '../store/exchanges/enrolment-receipts.ts'
import { type ItemReference, listReferences } from '../store/exchanges/references.ts'
import { LARGE_BODY_SEMAPHORE_KEY } from './accepted-request.ts'
import { rejectedCountText } from './batch.ts'
import type { AnswerDeps } from './item.ts'
import { rediscloseItem } from './redisclose-item.ts'
import { storeReferenceIdsIfMissing } from './references.ts'

/** The answer to a status question. */
export interface TxnAnswer {
  /** succ: the question is answered; rjct: it is rejected. */
  readonly status: 'succ' | 'rjct'
  readonly code?: 'rjct.reference_id.invalid'
  readonly reason?: string | undefined
  /** The answer to the earlier request, as far as it is known, for the reply. */
  readonly txn_status: ReplyMembers
  /** The items of the answer to the earlier request, as in `txn_status`. */
  readonly items: readonly ReplyMembers[]
  readonly encrypted?: true
  /** The correlation_id of the earlier exchange, whose answer is given again. */
  readonly repeats?: string
  /** The earlier exchange and its items whose records this answer shows under a consent; absent when there are none. */
  readonly consented?: { readonly correlation_id: string; readonly reference_ids: readonly string[] }
}

/** A status question whose earlier exchange was found, with the consents of that exchange. */
interface StatusQuestion {
  /** The exchange of the question, not the earlier one. */
  readonly exchange: Exchange
  /** The operation of the earlier exchange. */
  readonly operation: Operation
  /**
   * For each item that was answered under a consent, by reference_id: true when the consent still holds and the grant accepts the
   * consent.
   */
  readonly consents: ReadonlyMap<string, boolean>
}

/**
 * The answer to the earlier request: its first page, or how far the answer has come.
 * @param references the items that the question names; null: all
 */
export async function readEarlierAnswer(
  deps: AnswerDeps,
  question: Omit<StatusQuestion, 'consents'>,
  asked: ExchangeAskedAbout,
  references: readonly string[] | null,
): Promise<TxnAnswer> {
  const uses = await findConsentUses(deps.db, asked.correlation_id)
  const { grant } = question.exchange
  const consents = new Map(uses.map((use) => [use.reference_id, use.holds && isConsentGranted(grant, use)] as const))
  const about: StatusQuestion = { ...question, consents }
  const { items: member } = about.operation.reply
  const read = await (member === null
    ? readNonBatchAnswer(deps, about, asked)
    : readStatusAnswerItems(deps, about, asked, references))
  const chosen = member === null || references === null ? read.items : selectItemsNamedByQuestion(deps, read.items, references)
  const { transaction_id, correlation_id } = asked
  const reference_ids = chosen.flatMap(({ reference_id, data }) =>
    data !== undefined && consents.get(String(reference_id)) === true ? [String(reference_id)] : [],
  )
  return {
    status: read.status ?? 'succ',
    reason: read.reason === undefined ? undefined : headerReasonText(read.reason, read.items, chosen),
    items: chosen,
    repeats: correlation_id,
    ...(reference_ids.length > 0 && { consented: { correlation_id, reference_ids } }),
    txn_status: { transaction_id, correlation_id, ...(member === null ? chosen[0] : { [member]: chosen }) },
    // The answer to an encrypted request is never sent in clear.
    ...((read.encrypted || asked.accepted?.encrypted === true) && { encrypted: true }),
  }
}

/** The reason in the header. If the original reason says how many items were rejected, only the chosen items are counted here. */
const headerReasonText = (reason: string, all: readonly ReplyMembers[], chosen: readonly ReplyMembers[]): string | undefined =>
  reason === rejectedCountText(all) ? rejectedCountText(chosen) : reason

/** The part of a status answer about the earlier request: its items, and a status and a reason for the header. */
interface StatusAnswerContent {
  /** The status in the answer to the status question; absent: succ. */
  readonly status?: 'rjct'
  readonly items: readonly ReplyMembers[]
  readonly reason?: string | undefined
  readonly encrypted?: boolean
}

const SYNC_NOT_PERSISTED_REASON = 'answered synchronously; such answers are not persisted'
/** The only operation whose answers are stored as receipts. */
const RECEIPT_OPERATION = 'enrolment-updates'
const NO_RECEIPT_REASON =
  'no answer is kept: it is not answered yet, it failed, or its answer is forgotten; the same message may be sent again'
const ANSWER_FORGOTTEN_REASON = 'answered, and the answer is not persisted any more'
/** For a request that was given up. Sent again with the same message_id, it would only be acknowledged, and not answered. */
const NOT_ANSWERED_REASON =
  'not answered: the sender was disabled or its grant had changed when it was to be; it may be sent again under a new message_id'

async function readStatusAnswerItems(
  deps: AnswerDeps,
  about: StatusQuestion,
  asked: ExchangeAskedAbout,
  references: readonly string[] | null,
): Promise<StatusAnswerContent> {
  const { accepted, first } = asked
  try {
    if (accepted === null) return await receiptItems(deps, about, asked)
    if (accepted.open_chunks !== null) return await itemsOfChunks(deps, about, accepted, references)
    if (first !== null) return await readFirstPageItems(deps, about, first)
    const said = unansweredItemMembers(deps, accepted)
    const items = await listItemReferenceIds(deps, accepted, references)
    return { items: items.map(({ reference_id }) => ({ reference_id, ...said })), reason: said.status_reason_message }
  } catch (error) {
    if (error instanceof BodyUnreadable) return { items: [], reason: ANSWER_FORGOTTEN_REASON }
    throw error
  }
}

/** The items of a synchronous answer, read from its receipt; without a receipt no items and a reason. @throws BodyUnreadable */
async function receiptItems(
  deps: AnswerDeps,
  { operation }: StatusQuestion,
  { correlation_id }: ExchangeAskedAbout,
): Promise<StatusAnswerContent> {
  const receipt = await findReceipt(deps.db, correlation_id)
  if (receipt === null) {
    return operation.name === RECEIPT_OPERATION
      ? { items: [], status: 'rjct', reason: NO_RECEIPT_REASON }
      : { items: [], reason: SYNC_NOT_PERSISTED_REASON }
  }
  const page = parsePageText(operation, await deps.bodies.decryptBody(receipt.body, receiptBodyBinding(correlation_id)))
  return { items: page.items, encrypted: receipt.encrypted, reason: page.reason }
}

/** The answer of an operation without items, as one item; only a status when the answer is not stored or readable. */
async function readNonBatchAnswer(
  deps: AnswerDeps,
  about: StatusQuestion,
  { accepted, first }: ExchangeAskedAbout,
): Promise<StatusAnswerContent> {
  const unreadable = (reason: string): StatusAnswerContent => ({
    items: [{ timestamp: currentTimestamp(deps.clock), status: 'rcvd', status_reason_message: reason }],
    reason,
  })
  if (accepted === null) return unreadable(SYNC_NOT_PERSISTED_REASON)
  if (first === null) {
    const said = unansweredItemMembers(deps, accepted)
    return { items: [said], reason: said.status_reason_message }
  }
  try {
    const { message, reason } = await readPersistedPage(deps, about, first)
    const { transaction_id: _, correlation_id: __, ...members } = message
    return { items: [members], reason }
  } catch (error) {
    if (error instanceof BodyUnreadable) return unreadable(ANSWER_FORGOTTEN_REASON)
    throw error
  }
}

/** Makes the members of each item of a request without an answer (N7): `rcvd` not begun, `pdng` begun, `rjct` never answered. */
function unansweredItemMembers(
  { clock }: AnswerDeps,
  { state, started_at, open_chunks }: AcceptedExchange,
): { readonly timestamp: string; readonly status: Status; readonly status_reason_message?: string } {
  const timestamp = currentTimestamp(clock)
  return state === 'failed' && !open_chunks
    ? { timestamp, status: 'rjct', status_reason_message: NOT_ANSWERED_REASON }
    : { timestamp, status: started_at === null ? 'rcvd' : 'pdng' }
}

/**
 * The items of a request that was divided into chunks. If the question names no items, those of the first chunk have their
 * records. If it names items, the named items have their records, but only those in the first `MOST_CHUNKS_READ` chunks that have
 * named items. All other items have only their status.
 */
async function itemsOfChunks(
  deps: AnswerDeps,
  about: StatusQuestion,
  accepted: AcceptedExchange,
  references: readonly string[] | null,
): Promise<StatusAnswerContent> {
  const { correlation_id } = accepted
  const { timestamp, status } = unansweredItemMembers(deps, accepted)
  const requested = await listItemReferenceIds(deps, accepted, references)
  const answered = await findItemStatuses(deps.db, correlation_id)
  const wanted = references === null ? null : new Set<unknown>(references)
  const starts = await findChunkStartPositions(deps.db, correlation_id)
  const found: ReplyMembers[] = []
  const chunks = Map.groupBy(requested, ({ position }) => starts.findLastIndex((start) => start <= position))
  const [read, more] = wanted === null ? [1, IN_CHUNKS_REASON] : [MOST_CHUNKS_READ, MORE_CHUNKS_REASON]
  for (const [index, [chunk, items]] of [...chunks].entries()) {
    const first = index < read ? await findSentPage(deps.db, correlation_id, chunk + 1) : null
    const answer = first === null ? null : (await readFirstPageItems(deps, about, first)).items
    if (answer === null) {
      for (const { reference_id, position } of items) {
        found.push({ reference_id, timestamp, status: answered.get(position) ?? status })
      }
    } else found.push(...answer.filter(({ reference_id }) => wanted?.has(reference_id) ?? true))
  }
  return { items: found, ...((wanted === null || chunks.size > read) && { reason: more }) }
}

/** The most chunks whose records one status answer shows, because each may have many megabytes to read. */
const MOST_CHUNKS_READ = 2

const IN_CHUNKS_REASON = 'answered in several chunks: the records of the first one are given; ask for others by reference_id_list'
const MORE_CHUNKS_REASON = `answered in several chunks: the records of ${MOST_CHUNKS_READ} of them are given; ask for the other items by themselves`

/** The stored reference_ids of the items. The request, which may be large, is read only if they are not stored yet. */
async function listItemReferenceIds(
  deps: AnswerDeps,
  accepted: AcceptedExchange,
  references: readonly string[] | null,
): Promise<readonly ItemReference[]> {
  await storeReferenceIdsIfMissing(deps, accepted)
  return listReferences(deps.db, accepted.correlation_id, references)
}

/** The items of the stored first page, with what the grant shows now. @throws BodyUnreadable */
async function readFirstPageItems(
  deps: AnswerDeps,
  about: StatusQuestion,
  first: StoredAnswerPage,
): Promise<StatusAnswerContent> {
  const { exchange, consents } = about
  const { grant } = exchange
  const { items, reason } = await readPersistedPage(deps, about, first)
  const changed = await readGrantAndProtectionChanges(deps.db.pool, first.id, grant.id)
  const isOld = grant.hidden.takesOut !== null && (changed.grant || changed.protection)
  const answered: ReplyMembers[] = []
  for (const item of items) {
    const isConsented = consents.get(String(item.reference_id)) ?? !isLimitedToOnePerson(grant)
    answered.push(await rediscloseItem(deps, exchange, item, { isOld, isConsented }))
  }
  return { items: answered, reason }
}

/** The parsed text of a stored page of an answer: its message, the items in it, and the reason in its header. */
interface ParsedAnswerPage {
  readonly message: JsonObject
  readonly items: readonly JsonObject[]
  readonly reason: string | undefined
}

/** Reads the stored page of an answer. @throws BodyUnreadable */
async function readPersistedPage(
  { bodies, turns }: AnswerDeps,
  { operation }: StatusQuestion,
  { id, body }: StoredAnswerPage,
): Promise<ParsedAnswerPage> {
  const read = async () => parsePageText(operation, await bodies.decryptBody(body, deliveryBodyBinding(id)))
  return body.length > SMALL_REQUEST_BYTES ? runInSlot(turns, LARGE_BODY_SEMAPHORE_KEY, read) : read()
}

/** Parses the decrypted text of a page. @throws BodyUnreadable it is no JSON that we can read, or lacks header or message */
function parsePageText({ reply }: Operation, text: string): ParsedAnswerPage {
  const { header, message } = parseDecryptedBody(text)
  if (!isJsonObject(header) || !isJsonObject(message)) throw new BodyUnreadable('altered')
  const { status_reason_message: reason } = header
  const items = message[reply.items ?? '']
  return {
    message,
    items: Array.isArray(items) ? items.filter(isJsonObject) : [],
    reason: typeof reason === 'string' ? reason : undefined,
  }
}

/** The items with the reference_ids in the question, in the question's order. An unknown reference_id gets a rejected item. */
function selectItemsNamedByQuestion(
  { clock }: AnswerDeps,
  items: readonly ReplyMembers[],
  references: readonly string[],
): readonly ReplyMembers[] {
  const byReference = Map.groupBy(items, ({ reference_id }) => reference_id)
  const timestamp = currentTimestamp(clock)
  return [...new Set(references)].flatMap(
    (reference_id) =>
      byReference.get(reference_id) ?? [
        {
          reference_id,
          timestamp,
          status: 'rjct',
          status_reason_code: 'rjct.reference_id.invalid',
          status_reason_message: 'reference_id: names no item of this transaction',
        },
      ],
  )
}
