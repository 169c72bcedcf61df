/** Runs the searches of items in slots, and measures their time for the operator. */

import { checkPeerWaits } from '@rollcall/core/model/exchange'
import { isLookUp, type RecordQuery, type RecordReader, SearchTimeout } from '@rollcall/core/model/record-source'
import type { FoundPage } from '@rollcall/core/model/records'
import { neverShowsRecords } from '@rollcall/core/policy/total'
import { makeRecordQuery } from '@rollcall/core/query/resolve-ages'
import type { SearchCriteria } from '@rollcall/core/query/search-criteria'
import { dayIn, ItemRejection, type Kind, type RecordType, RequestFault } from '@rollcall/protocol'
import type { ItemHandlerInput } from './item.ts'

/** The reader of records for an item: the snapshot of its batch, or if the batch has none, a reader of the newest state. */
export const recordReaderOf = ({ deps, exchange, mode, state }: ItemHandlerInput): RecordReader =>
  state ?? deps.recordsOf(exchange.registry).reader(mode.name)

/**
 * Finds the records of a search that the participant may find, as `runQueryInSlot` does.
 * @throws ItemRejection as `runQueryInSlot`; or the source would have to read more rows than a search may read: then it is not
 * known how many records match
 */
export async function findRecordsInSlot(work: ItemHandlerInput, criteria: SearchCriteria): Promise<FoundPage> {
  const { deps, exchange, mode } = work
  const { registry } = exchange
  const cap = deps.limits.search_results
  // An asynchronous search needs the ids of the found records, up to the cap, for its further pages. Other searches find no ids:
  // ids would be subtracted from the request's budget of records, and a later rejection would show how many records match.
  const hasNoFurtherPages = mode.name === 'sync' || neverShowsRecords(exchange.grant, criteria.recordType)
  const query = makeRecordQuery(criteria, dayIn(registry.time_zone, deps.clock.date()), {
    cap,
    ids: hasNoFurtherPages ? 0 : cap,
    categories: exchange.grant.hidden.categories,
  })
  const found = await runQueryInSlot(work, query)
  if (found.tooManyRows !== true) return found
  throw new ItemRejection(
    'rjct.search.too_many_records_found',
    "search_criteria.query: needs more rows of the registry's database than a search may read; narrow the search",
  )
}

/**
 * Runs a search in a slot; a look-up needs none. Only one search of a request waits for a slot at a time.
 * @throws RequestFault 503 err.service.unavailable: no slot became free in time
 * @throws ItemRejection earlier searches of this request, or this one, took too long
 */
export async function runQueryInSlot(work: ItemHandlerInput, query: RecordQuery): Promise<FoundPage> {
  const { deps, exchange, budget, mode, state } = work
  if (isLookUp(query)) return findRecordsMeasured(work, query)
  const checkBudget = (): void => {
    if (deps.clock.now() < budget.until) return
    throw new ItemRejection(
      'rjct.search_criteria.invalid',
      `search_criteria.query: not begun: the searches of this request took ${mode.searchTime} seconds; send fewer slow ones in one request`,
    )
  }
  checkBudget()
  // A batch that reads in a snapshot already has a slot.
  if (state !== undefined) return findRecordsMeasured(work, query)
  // Waits until no other search of this request asks for a slot. `turn.end` is called when this search has a slot, or has failed.
  const turn = budget.slotTurns.take('')
  await turn.begun
  const searchInSlot = async (): Promise<FoundPage> => {
    turn.end()
    // While the search waited, the sender may have gone, the request may have failed, or its time may have run out.
    checkPeerWaits(exchange)
    if (budget.over) throw new RequestFault('err.service.unavailable', 'the request has failed')
    checkBudget()
    return findRecordsMeasured(work, query)
  }
  return mode.searchSlots.run(exchange.participant.id, searchInSlot).finally(turn.end)
}

/**
 * Finds records, and measures the time for the operator.
 * @throws ItemRejection the search takes too long
 * @throws DatabaseError the look-up of one identifier takes too long: then it is the database that is slow
 */
export async function findRecordsMeasured(work: ItemHandlerInput, query: RecordQuery): Promise<FoundPage> {
  const { deps, exchange } = work
  const { registry, grant, participant } = exchange
  const started = deps.clock.now()
  const measured = (outcome: 'answered' | 'timeout' | 'failed'): void =>
    deps.metrics.searched(registry.kind.name, outcome, (deps.clock.now() - started) / 1_000)
  try {
    const found = await recordReaderOf(work).find(registry, { ...query, participant: participant.id })
    measured('answered')
    return found
  } catch (error) {
    const isTimeout = error instanceof SearchTimeout
    measured(isTimeout ? 'timeout' : 'failed')
    if (!isTimeout) throw error
    if (isLookUp(query)) throw error.cause
    const asked = grant.kind.record_types.find(({ name }) => name === query.recordType.name)
    throw searchTimeoutRejection(asked, error.seconds ?? deps.limits.search_timeout)
  }
}

/** The rejection of a slow search, with advice. @param recordType has only what the participant may ask about */
function searchTimeoutRejection(recordType: RecordType | undefined, seconds: number): ItemRejection {
  const { attributes = [], compounds = [] } = recordType ?? {}
  const indexed = [...attributes, ...compounds].filter((row) => row.indexed).map(({ name }) => name)
  const narrower = indexed.length === 0 ? 'an identifier' : `an identifier or one of ${indexed.join(', ')}`
  return new ItemRejection(
    'rjct.search_criteria.invalid',
    `search_criteria.query: took longer than ${seconds} seconds; narrow it by ${narrower}`,
  )
}

/**
 * The record type of that name in a kind. The kind of a registry has the whole record type; `Grant.kind` has only what the
 * participant may ask about.
 */
export function requireKindRecordType({ record_types }: Kind, { name }: RecordType): RecordType {
  const found = record_types.find((one) => one.name === name)
  if (found === undefined) throw new Error('unreachable: the kind has each record type that may be asked about')
  return found
}
