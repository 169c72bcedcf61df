/**
 * Answers an accepted exchange that this node has claimed, page by page. The search is done for the first page. Further pages
 * read the records whose ids the search found.
 */

import { NotAuditedFault } from '@rollcall/audit/fail-closed'
import type { Exchange, Message } from '@rollcall/core/model/exchange'
import type { Grant } from '@rollcall/core/model/grant'
import { OutcomeOutdated } from '@rollcall/core/model/outcome'
import { RecordsUnavailable } from '@rollcall/core/model/record-source'
import { readStoredGrant } from '@rollcall/core/policy/grant'
import { permissionFor } from '@rollcall/core/policy/permission'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import type { ReplyEffect } from '@rollcall/database/transaction'
import { BodyUnreadable } from '@rollcall/keys/bodies'
import { findGrant } from '@rollcall/participants/store/grants'
import { findParticipantById } from '@rollcall/participants/store/participants'
import { operation } from '@rollcall/protocol'
import { isRecordsPlaceUnchanged } from '@rollcall/records/registries/registries'
import { openRequest } from '../operations/accepted-request.ts'
import { answerFurtherPage, answerMessage, failedOutcome, needsRecordSnapshot } from '../operations/handlers.ts'
import { type AnswerDeps, batchItemsOf, type Item } from '../operations/item.ts'
import type { Outcome } from '../operations/outcome.ts'
import { readRepeatedReferenceIds } from '../operations/references.ts'
import { findPersistedPage } from '../store/exchanges/accepted-exchanges.ts'
import type { ClaimedExchange } from '../store/exchanges/claims.ts'
import { commitPage, type NewAnsweredItem } from '../store/exchanges/replies.ts'
import type { AuthorizeDeps } from './admit.ts'
import { type ExchangeToAnswer, type ReplyPage, type SendReplyDeps, sendReply } from './send-reply.ts'

export type AnswerAcceptedDeps = AnswerDeps & SendReplyDeps & AuthorizeDeps

/** The most pages of an answer that one run sends; then other exchanges have their turn. */
const MOST_PAGES_PER_RUN = 16

/**
 * Answers an exchange, or some of its pages. Each page is committed under the claim: if the claim has ended, another
 * run answers the exchange, and this run sends nothing more.
 * @param signal when it is aborted, no further page is begun, and the exchange is due again
 * @throws errors after which the exchange must be tried again
 */
export async function answerAccepted(deps: AnswerAcceptedDeps, accepted: ClaimedExchange, signal?: AbortSignal): Promise<void> {
  const { directory, log } = deps
  const { correlation_id, runs } = accepted
  const participant = await directory.participantById(accepted.participant)
  const registry = await directory.registryById(accepted.registry)
  if (participant?.status !== 'active' || registry === undefined) return giveUpExchange(deps, accepted)
  // The grant is read for each page: the rights of the moment apply, not those at the time of the request.
  const grantNow = async (): Promise<Grant | null> => {
    const grant = await deps.grants.of(participant, registry)
    return permissionFor(grant, { operation: accepted.operation }).allowed ? grant : null
  }
  if ((await grantNow()) === null) return giveUpExchange(deps, accepted)
  // The claimed row with its operation, registry and participant. `exchange` below also has the grant and the header.
  const exchangeToAnswer: ExchangeToAnswer = { ...accepted, operation: operation(accepted.operation), registry, participant }
  if (runs > MOST_RUNS_WITHOUT_PAGE) {
    log.error({ correlation_id, runs }, 'an exchange is not answered: every run of it was cut short')
    return sendFailurePage(deps, exchangeToAnswer, [])
  }
  /** The last page that is committed, by this run or an earlier one. */
  let committed = accepted.page
  try {
    const { header, message, traceparent = null } = await openRequest(deps, accepted)
    const isLastOfRun = (): boolean => committed + 1 >= accepted.page + MOST_PAGES_PER_RUN || signal?.aborted === true
    for (;;) {
      const grant = await grantNow()
      if (grant === null) return await giveUpExchange(deps, { ...accepted, page: committed })
      const exchange: Exchange = { ...exchangeToAnswer, grant, header, traceparent, isGone: () => false }
      const make = (): Promise<PageToSend> => makePage(deps, exchange, message, accepted, committed + 1)
      if (!(await sendPage(deps, exchangeToAnswer, make, isLastOfRun))) return
      committed += 1
    }
  } catch (error) {
    // A page that this run has committed has set the number of runs to 0, so the failure is not final.
    if (committed > accepted.page || !isFinalFailure(error, runs)) throw error
    log.error({ correlation_id, ...safeDatabaseError(error) }, 'an exchange could not be answered')
    await sendFailurePage(deps, exchangeToAnswer, await findUnansweredItems(deps, accepted, exchangeToAnswer))
  }
}

/**
 * The number of runs without a page, after which a request is not processed again. Runs that end with their node are counted too:
 * the request may have stopped the nodes. The callback says that the registry failed.
 */
const MOST_RUNS_WITHOUT_PAGE = 20

/**
 * The number of runs without a page, after which a failure is final. It must be at most one more than the number of pauses in
 * `BACKOFF_SECONDS` (`work/exchanges.ts`), because later failed runs are not counted in `runs` (`releaseFailedExchange`).
 */
const RUNS_UNTIL_FAILURE_IS_FINAL = 5

/**
 * True when the callback says that the registry failed; false: a later run tries again. A request that cannot be read fails at
 * once. After `RUNS_UNTIL_FAILURE_IS_FINAL` runs every error is final, also one of the database, except those in `NEVER_FINAL`.
 * But if the callback cannot be committed either, the run fails, and a later run tries again.
 */
const isFinalFailure = (error: unknown, runs: number): boolean =>
  error instanceof BodyUnreadable ||
  (runs >= RUNS_UNTIL_FAILURE_IS_FINAL && !NEVER_FINAL.some((waiting) => error instanceof waiting))

/**
 * Ends an exchange without a further page of its answer: its sender may no longer ask, or the registry is gone. If the claim has
 * ended, nothing is changed: another run answers the exchange, or gives it up.
 * @throws ExchangePermissionUnclear
 */
async function giveUpExchange(deps: AnswerAcceptedDeps, accepted: ClaimedExchange): Promise<void> {
  if (await mayStoredGrantPermitExchange(deps, accepted))
    throw new ExchangePermissionUnclear('the stored grant may permit the exchange')
  const { db, log } = deps
  const { id, claim, page, correlation_id } = accepted
  const nothing = { items: [], delivery: null, deliveryClaim: null, goesOn: false }
  const isGivenUp = await commitPage(db, { id, claim, from: page, page, state: 'failed', ...nothing })
  if (!isGivenUp) return
  log.info({ correlation_id }, 'an exchange is not answered: its sender, its grant or its registry is not there any more')
}

/** The cached participant or grant forbids an exchange, but the stored ones may permit it: a later run may answer it. */
class ExchangePermissionUnclear extends Error {}

/**
 * The errors that are never final. If the audit log refuses entries although the database is available, a failure cannot be
 * reported either. Records that cannot be reached may be back soon, and a grant may be read by a later run.
 */
const NEVER_FINAL = [NotAuditedFault, RecordsUnavailable, ExchangePermissionUnclear]

/**
 * Reads participant and grant from the database: those that this node has cached may be older than those under which another
 * node accepted the request. True when they permit the exchange, or when this version of the server cannot read the grant, which
 * another version may be able to read.
 */
async function mayStoredGrantPermitExchange({ db, directory }: AnswerAcceptedDeps, accepted: ClaimedExchange): Promise<boolean> {
  const registry = await directory.registryById(accepted.registry)
  const participant = await findParticipantById(db, accepted.participant)
  if (participant?.status !== 'active' || registry === undefined) return false
  const stored = await findGrant(db, participant.id, registry.id)
  if (stored === null) return false
  const grant = readStoredGrant(registry.kind, stored)
  return grant === null || permissionFor(grant, { operation: accepted.operation }).allowed
}

/** A page to be sent, before it is known whether the run goes on after it. */
type PageToSend = Omit<ReplyPage, 'goesOn'>

/** The most tries to make one page; a try is repeated when its data have changed meanwhile. Then the run fails. */
const MOST_PAGE_TRIES = 10

/** Makes and sends a page. @returns true when the run goes on with the next page; false also when the claim has ended */
async function sendPage(
  deps: AnswerAcceptedDeps,
  answered: ExchangeToAnswer,
  make: () => Promise<PageToSend>,
  isLastOfRun: () => boolean,
): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    const page = await make()
    const goesOn = page.state === 'replying' && !isLastOfRun()
    try {
      return (await sendReply(deps, answered, { ...page, goesOn })) && goesOn
    } catch (error) {
      if (!(error instanceof OutcomeOutdated) || tries === MOST_PAGE_TRIES) throw error
    }
  }
}

async function makePage(
  deps: AnswerAcceptedDeps,
  exchange: Exchange,
  message: Message,
  accepted: ClaimedExchange,
  page: number,
): Promise<PageToSend> {
  const { outcome, items, further } =
    page === 1
      ? await makeFirstPage(deps, exchange, message, accepted)
      : await makeFurtherPage(deps, exchange, message, accepted, page)
  return { outcome, request: exchange, page, items, state: further ? 'replying' : 'replied' }
}

/** The first step towards a `PageToSend`: the outcome of the page, and the rows of its items. */
type PageOutcome = Pick<PageToSend, 'outcome' | 'items'> & {
  /** True when the answer has another page after this one. */
  readonly further: boolean
}

async function makeFirstPage(
  deps: AnswerAcceptedDeps,
  exchange: Exchange,
  message: Message,
  accepted: ClaimedExchange,
): Promise<PageOutcome> {
  const earlier = accepted.first_item === 0 ? [] : await readRepeatedReferenceIds(deps, accepted)
  const { sender_uri } = accepted
  const messageToAnswer = { mode: 'async', exchange, message, earlier, sender_uri } as const
  // A single statement sees one state of the records. Several statements need a session with one snapshot.
  const outcome =
    accepted.items <= 1 || !needsRecordSnapshot(exchange)
      ? await answerMessage(deps, messageToAnswer)
      : await deps.modes.async.searchSlots.run(exchange.participant.id, () =>
          deps.recordsOf(exchange.registry).session((state) => answerMessage(deps, { ...messageToAnswer, state })),
        )
  const persisted = makeItemRows(outcome)
  const further = persisted.some(({ record_ids }) => record_ids !== null)
  return { outcome: further ? addRecordsPlaceCheckEffect(outcome, exchange) : outcome, items: persisted, further }
}

/**
 * Adds a check to an outcome whose record ids are stored for further pages, if the registry has a source: the records must still
 * be where they were read, in the source or in our tables. If not, nothing is committed, and a later run answers with new ids.
 */
function addRecordsPlaceCheckEffect(outcome: Outcome, { registry }: Exchange): Outcome {
  if (registry.source === null) return outcome
  const checkPlace: ReplyEffect = async (client) => {
    if (!(await isRecordsPlaceUnchanged(client, registry))) throw new RecordsUnavailable(null)
  }
  return { ...outcome, effects: [checkPlace, ...(outcome.effects ?? [])] }
}

/**
 * Makes the row of each item. Status questions read the statuses. Further pages read the record ids, which are stored only for
 * items with more records than one page.
 */
function makeItemRows({ items = [] }: Outcome): readonly NewAnsweredItem[] {
  return items.map(({ reference_id, status, found }, position) => {
    const { record_type = null, record_ids = null, page_size = null } = found ?? {}
    const total = record_ids?.length ?? null
    const further = (total ?? 0) > (page_size ?? 0)
    return { position, reference_id, status, total, page_size, record_type, record_ids: further ? record_ids : null }
  })
}

async function makeFurtherPage(
  deps: AnswerAcceptedDeps,
  exchange: Exchange,
  message: Message,
  accepted: ClaimedExchange,
  page: number,
): Promise<PageOutcome> {
  const persisted = await findPersistedPage(deps.db, accepted, page)
  const pages = new Map(persisted.map(({ position, ...rest }) => [position, { ...rest, page_number: page }]))
  const outcome = await answerFurtherPage(deps, { mode: 'async', exchange, message }, pages)
  return { outcome, items: [], further: persisted.some(({ total, page_size }) => total > page * page_size) }
}

/**
 * Sends a page which says that the registry failed, for every item of that page.
 * @param items empty when the request was not or cannot be read
 */
async function sendFailurePage(deps: AnswerAcceptedDeps, answered: ExchangeToAnswer, items: readonly Item[]): Promise<void> {
  const page = answered.page + 1
  const outcome = failedOutcome(answered, answered.transaction_id, items, { page, count: answered.items })
  await sendReply(deps, answered, { outcome, request: null, page, state: 'failed', items: [], goesOn: false })
}

/** Finds the items that the next page must answer with a failure; none when the request cannot be read. */
async function findUnansweredItems(
  deps: AnswerAcceptedDeps,
  accepted: ClaimedExchange,
  answered: ExchangeToAnswer,
): Promise<readonly Item[]> {
  try {
    const items = batchItemsOf(answered, (await openRequest(deps, accepted)).message)
    if (accepted.page === 0) return items
    const persisted = await findPersistedPage(deps.db, accepted, accepted.page + 1)
    return persisted.flatMap(({ position }) => items[position] ?? [])
  } catch (error) {
    if (error instanceof BodyUnreadable) return []
    throw error
  }
}
