/** search: what is done with one search_request item (spec "SearchRequest", "SearchResponse"). */

import { dayIn, ItemRejection, PROTOCOL_VERSION, RequestFault } from '@rollcall/protocol'
import { checkPeer } from '../model/exchange.ts'
import type { Disclosed, ReplyMembers } from '../model/outcome.ts'
import { isLookUp } from '../model/record-source.ts'
import type { Found, FoundRecord } from '../model/records.ts'
import type { Registry } from '../model/registry.ts'
import { disclose } from '../policy/disclosure.ts'
import { recordQuery } from '../query/at-day.ts'
import { checkBackfilled } from '../query/mentions.ts'
import { readSearchCriteria, type SearchCriteria } from '../query/search-criteria.ts'
import { measuredFind, readerOf } from './find-records.ts'
import type { Item, ItemAnswer, ItemWork, PersistedPage } from './item.ts'

/** The data and pagination members of the item's answer; no hit is `reg_records: []`, not a rejection. */
export async function searchItem(work: ItemWork, item: Item): Promise<ItemAnswer> {
  const { parts, exchange } = work
  const { limits } = parts
  const criteria = readCriteria(work, item)
  checkBackfilled(exchange.registry.unfilled, criteria)
  const { total, records, ids } = await findInTurn(work, criteria)
  if (total > limits.search_results) {
    throw new ItemRejection(
      'rjct.search.too_many_records_found',
      `search_criteria: more than ${limits.search_results} records match; narrow the search`,
    )
  }
  const { page_size, page_number } = criteria
  takeRecords(work.budget, ids.length)
  return {
    members: {
      data: dataOf(work, criteria, records),
      pagination: { page_size, page_number, total_count: total },
    },
    // Who asks for a later page wants that page alone.
    ...(work.mode.name === 'async' &&
      page_number === 1 && { found: { record_type: criteria.recordType.name, page_size, record_ids: ids } }),
  }
}

/**
 * The same members for a further page, of records that were found when the first one was answered. They are read on a
 * connection of searches, for which the page waits as a search does.
 */
export async function searchPage(
  work: ItemWork,
  item: Item,
  { page_size, page_number, total, record_ids }: PersistedPage,
): Promise<ItemAnswer> {
  const { registry, participant } = work.exchange
  const criteria = readCriteria(work, item)
  const records = await work.mode.gate.run(participant.id, () =>
    readerOf(work).read(registry, criteria.recordType, record_ids),
  )
  return {
    members: {
      data: dataOf(work, criteria, records),
      pagination: { page_size, page_number, total_count: total },
    },
  }
}

/**
 * Every id is held until the first page is written, and every page is a callback: one request cannot make the server
 * hold as many as it likes.
 */
function takeRecords(budget: ItemWork['budget'], found: number): void {
  if (found > budget.records) {
    throw new ItemRejection(
      'rjct.search.too_many_records_found',
      'search_criteria: the records that this request finds are too many; send fewer items or narrow the search',
    )
  }
  budget.records -= found
}

function readCriteria({ parts, exchange: { registry, participant } }: ItemWork, item: Item): SearchCriteria {
  return readSearchCriteria(registry.kind, item, parts.limits, participant.max_page_size)
}

function dataOf(work: ItemWork, criteria: SearchCriteria, found: readonly FoundRecord[]): ReplyMembers {
  return {
    version: PROTOCOL_VERSION,
    reg_type: criteria.reg_type,
    reg_record_type: criteria.reg_record_type,
    reg_records: disclosedRecords(work, criteria, found),
  }
}

/**
 * One answer holds so many bytes of records and no more: a batch cannot make the server build an endless text. They are
 * counted as they are made, since a selection may be longer than its record.
 * @throws ItemRejection when they are too many; the budget is then as it was
 */
function disclosedRecords(
  { exchange, budget }: ItemWork,
  { recordType, shape }: SearchCriteria,
  found: readonly FoundRecord[],
): readonly Disclosed[] {
  const day = today(exchange.registry)
  const select = shape && ((document: string) => shape(document, day))
  const documents = found.map(({ document }) => document)
  const records: Disclosed[] = []
  let bytes = 0
  for (const record of disclose(exchange.participant, recordType, documents, select)) {
    bytes += Buffer.byteLength(record.text)
    if (bytes > budget.bytes) {
      throw new ItemRejection(
        'rjct.search.too_many_records_found',
        'search_criteria: the records of this answer are too many; send fewer items or ask for smaller pages',
      )
    }
    records.push(record)
  }
  budget.bytes -= bytes
  return records
}

const today = ({ time_zone }: Registry): string => dayIn(time_zone, Date.now())

/**
 * Finds; what may be slow waits for its turn first.
 * @throws RequestFault 503 err.service.unavailable where there is no turn in time
 * @throws ItemRejection where searches of this request took too long before, or this one takes too long
 */
async function findInTurn(work: ItemWork, criteria: SearchCriteria): Promise<Found> {
  const { parts, exchange, budget, mode, state } = work
  const { registry, participant } = exchange
  const cap = parts.limits.search_results
  // Further pages are made of the ids.
  const query = recordQuery(criteria, today(registry), { cap, ids: mode.name === 'sync' ? 0 : cap })
  const found = () => measuredFind(work, query)
  if (isLookUp(query)) return found()
  const checkBudget = (): void => {
    if (parts.clock.now() < budget.until) return
    throw new ItemRejection(
      'rjct.search_criteria.invalid',
      `search_criteria.query: not begun: the searches of this request took ${mode.searchTime} seconds; send fewer slow ones in one request`,
    )
  }
  checkBudget()
  // One state is one connection, for which there was a turn already.
  if (state !== undefined) return found()
  const before = budget.turn
  const { promise, resolve: begin } = Promise.withResolvers<void>()
  budget.turn = promise
  await before
  const begun = async (): Promise<Found> => {
    begin()
    // All may have changed while it waited.
    checkPeer(exchange)
    if (budget.over) throw new RequestFault('err.service.unavailable', 'the request has failed')
    checkBudget()
    return found()
  }
  return mode.gate.run(participant.id, begun).finally(begin)
}
