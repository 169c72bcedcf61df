/** search: what is done with one search_request item (spec "SearchRequest", "SearchResponse"). */

import type { ConsentUse } from '@rollcall/core/model/consent'
import { checkPeer, type Exchange } from '@rollcall/core/model/exchange'
import type { Disclosed, ReplyMembers } from '@rollcall/core/model/outcome'
import { leavesOf, type Predicate } from '@rollcall/core/model/predicate'
import { PROTECTION_CATEGORIES } from '@rollcall/core/model/protection'
import { isLookUp } from '@rollcall/core/model/record-source'
import type { Found, FoundRecord, Identifier } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import { type Consenting, checkSubject, consentFacts, isAboutSubject } from '@rollcall/core/policy/basis'
import { askedMembers } from '@rollcall/core/policy/disclosed-persons'
import { disclose, isInRows } from '@rollcall/core/policy/disclosure'
import { checkPersonal, type Emergency, emergencyOf } from '@rollcall/core/policy/emergency'
import { checkForm } from '@rollcall/core/policy/query-form'
import { hidesEmpty, showsNothing, totalShown, withinCap } from '@rollcall/core/policy/total'
import { recordQuery } from '@rollcall/core/query/at-day'
import { askedBy, checkBackfilled, mentionsUnfilled } from '@rollcall/core/query/mentions'
import { readSearchCriteria, type SearchCriteria } from '@rollcall/core/query/search-criteria'
import { dayIn, ItemRejection, isJsonObject, type JsonValue, PROTOCOL_VERSION, RequestFault } from '@rollcall/protocol'
import { type Consented, consentOf, useOfRecord } from './consented.ts'
import { measuredFind, readerOf } from './find-records.ts'
import type { Item, ItemAnswer, ItemWork, PersistedPage } from './item.ts'
import { takeQuota } from './quota.ts'

/** The data and pagination members of the item's answer; no hit is `reg_records: []`, not a rejection. */
export async function searchItem(asking: ItemWork, item: Item): Promise<ItemAnswer> {
  const { criteria, exchange, emergency, consented } = await readCriteria(asking, item)
  const work = { ...asking, exchange }
  const { limits } = work.parts
  checkFilled(exchange, criteria)
  // Each identifier is a look-up of its own.
  const wanted = identifiersIn(criteria.predicate).length || 1
  await takeQuota(work, emergency === null ? 'items' : 'emergencies', wanted)
  if (emergency !== null) noteEmergency(work, emergency)
  const found = await subjectAlone(work, consented, criteria)
  const { total, records, ids, use, reason } = withinCap(exchange.grant, found, limits.search_results)
  const { page_size, page_number } = criteria
  takeRecords(work.budget, ids.length)
  return {
    members: {
      ...(reason !== undefined && { status_reason_message: reason }),
      ...(await pageMembers(work, criteria, records, { page_size, page_number, total })),
    },
    ...(use !== null && { use }),
    // Who asks for a later page wants that page alone.
    ...(work.mode.name === 'async' &&
      page_number === 1 &&
      !showsNothing(exchange.grant, criteria.recordType) && {
        found: { record_type: criteria.recordType.name, page_size, record_ids: ids },
      }),
  }
}

/** The operator is told at once, and of no person: the account of the request has the reason. */
function noteEmergency({ parts: { log, metrics }, exchange, asks }: ItemWork, { reason }: Emergency): void {
  asks({ emergency: reason })
  const { participant, registry, grant, correlation_id } = exchange
  const where = { participant: participant.sender_id, registry: registry.namespace }
  metrics.emergencyUsed(where.participant, where.registry)
  log.warn({ ...where, grant: grant.id, correlation_id }, 'the emergency part of a grant was used')
}

/**
 * What is found, and under which consent. An identifier that finds several persons finds none of whom it is known that it is
 * the one who consents; nor is somebody found whose consent does not hold any more, or covers nothing of the record.
 */
async function subjectAlone(
  work: ItemWork,
  { use, signed }: Consented,
  criteria: SearchCriteria,
): Promise<Found & { readonly use: ConsentUse | null }> {
  const { exchange } = work
  const wanted = inRows(exchange, criteria)
  const isOfSeveral = isAboutSubject(exchange.grant) && (await isBorneBySeveral(work, criteria))
  if (use === null) {
    const found = await findInTurn(work, wanted)
    return { ...(isOfSeveral ? NOBODY : found), use }
  }
  const { total, records, ids } = await findInTurn(work, { ...wanted, page_number: 1 })
  const [record] = records
  if (isOfSeveral || total !== 1 || record === undefined) return { ...NOBODY, use }
  const { recordType, page_number } = criteria
  const all = await useOfRecord(work, use, recordType, record)
  const isShown = [...disclose(exchange.grant, recordType, [record.document])].some(
    ({ text }) => signed === null || text !== '{}',
  )
  if (all === null || !isShown) return { ...NOBODY, use: all }
  return { total, records: page_number === 1 ? records : [], ids, use: all }
}

/** Also of people who are hidden from the participant: of those it does not know who is left, and who consents. */
async function isBorneBySeveral(
  work: ItemWork,
  { recordType, predicate }: Pick<SearchCriteria, 'recordType' | 'predicate'>,
): Promise<boolean> {
  const page = { sort: [], limit: 2, offset: 0, cap: 2, categories: PROTECTION_CATEGORIES }
  const { records } = await measuredFind(work, { recordType, predicate, page })
  return records.length > 1
}

const NOBODY: Found = { total: 0, records: [], ids: [] }

const identifiersIn = (predicate: Predicate): readonly Identifier[] =>
  leavesOf(predicate).flatMap((leaf) => (leaf.is === 'identifier' ? leaf.identifiers : []))

/**
 * The same members for a further page, of records that were found when the first one was answered. They are read on a
 * connection of searches, for which the page waits as a search does.
 */
export async function searchPage(
  work: ItemWork,
  item: Item,
  { page_size, page_number, total, record_ids }: PersistedPage,
): Promise<ItemAnswer> {
  const { criteria, exchange } = await readCriteria(work, item)
  const { registry, participant, grant } = exchange
  if (isAboutSubject(grant) && total > 1) {
    throw new ItemRejection(
      'rjct.search_criteria.invalid',
      'search_criteria.query: found several people, and this participant may ask about one who consents',
    )
  }
  const records = await work.mode.gate.run(participant.id, () =>
    readerOf(work).read(registry, criteria.recordType, record_ids, grant.hidden.categories),
  )
  // A record may have changed since it was found.
  const seen = records.filter(({ document }) => isInRows(grant, criteria.recordType, document))
  return { members: await pageMembers({ ...work, exchange }, criteria, seen, { page_size, page_number, total }) }
}

async function pageMembers(
  work: ItemWork,
  criteria: SearchCriteria,
  records: readonly FoundRecord[],
  { total, ...page }: { readonly page_size: number; readonly page_number: number; readonly total: number },
): Promise<ReplyMembers> {
  const shown = disclosedRecords(work, criteria, records)
  // An answer without a record takes one as well: otherwise a used-up quota would say that there is one.
  await takeQuota(work, 'records', Math.max(1, shown.length))
  const total_count = totalShown(work.exchange.grant, total, shown.length)
  return { data: dataOf(criteria, shown), pagination: { ...page, total_count } }
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

interface AskedItem {
  readonly criteria: SearchCriteria
  /** With the grant that counts for the item. */
  readonly exchange: Exchange
  readonly emergency: Emergency | null
  readonly consented: Consented
}

/** Read by what may be asked about, under the basis of the grant. */
async function readCriteria({ parts, exchange: asking, asks }: ItemWork, item: Item): Promise<AskedItem> {
  const { registry, participant } = asking
  const sizes = [participant.max_page_size, asking.grant.terms.page_size].filter((size) => size != null)
  const largest = sizes.length === 0 ? null : Math.min(...sizes)
  const consenting = item.search_criteria as Consenting
  const now = new Date(parts.clock.date())
  const visible = () => (emergencyOf(asking.grant, consenting, now)?.grant ?? asking.grant).visible
  const asked = readSearchCriteria(asking.grant.kind, item, parts.limits, { max_page_size: largest, visible })
  asks({
    record_type: asked.recordType.name,
    form: asked.form,
    ...askedBy(asked),
    ...consentFacts(asking.grant, consenting),
  })
  const emergency = emergencyOf(asking.grant, consenting, now)
  if (emergency !== null) checkPersonal(emergency, asked.recordType)
  const ordinary = emergency === null ? asking : { ...asking, grant: emergency.grant }
  checkForm(ordinary.grant, asked)
  const identifiers = identifiersIn(asked.predicate)
  const given = { parts, exchange: ordinary }
  const consented = await consentOf(given, consenting, 'search_criteria', identifiers)
  asks(consented.facts)
  checkSubject(ordinary.grant, asked)
  const recordType = registry.kind.record_types.find(({ name }) => name === asked.recordType.name)
  if (recordType === undefined) throw new RangeError(`the kind has no record type ${asked.recordType.name}`)
  const predicate: Predicate =
    consented.use === null ? asked.predicate : { is: 'identifier', identifiers: consented.identifiers }
  const exchange = { ...ordinary, grant: consented.grant }
  return { criteria: { ...asked, recordType, predicate }, exchange, emergency, consented }
}

/** The conditions of the grant are added. */
function inRows({ grant }: Exchange, criteria: SearchCriteria): SearchCriteria {
  const rows = grant.rows.get(criteria.recordType.name)
  if (rows === undefined) return criteria
  return { ...criteria, predicate: { is: 'and', of: [criteria.predicate, rows] } }
}

/** @throws ItemRejection what is asked, or what the grant asks, is being backfilled; the latter is not named */
function checkFilled({ registry, grant }: Exchange, criteria: SearchCriteria): void {
  checkBackfilled(registry.unfilled, criteria)
  const rows = grant.rows.get(criteria.recordType.name)
  if (rows === undefined || !mentionsUnfilled(registry.unfilled, criteria.recordType, rows)) return
  throw new ItemRejection(
    'rjct.search_criteria.invalid',
    'search_criteria: records are being backfilled and cannot be searched yet; ask again later',
  )
}

function dataOf(criteria: SearchCriteria, reg_records: readonly Disclosed[]): ReplyMembers {
  return {
    version: PROTOCOL_VERSION,
    reg_type: criteria.reg_type,
    reg_record_type: criteria.reg_record_type,
    reg_records,
  }
}

/** Of a record nothing is shown. */
const isEmpty = (record: JsonValue): boolean => isJsonObject(record) && Object.keys(record).length === 0

/**
 * One answer holds so many bytes of records and no more: a batch cannot make the server build an endless text. They are
 * counted as they are made, since a selection may be longer than its record. What is shown of a household is shown of the member
 * by whose identifier it was asked for, and accounted so.
 * @throws ItemRejection when they are too many; the budget is then as it was
 */
function disclosedRecords(
  { exchange, budget, asks }: ItemWork,
  { recordType, predicate, shape }: SearchCriteria,
  found: readonly FoundRecord[],
): readonly Disclosed[] {
  const day = today(exchange.registry)
  const hides = hidesEmpty(exchange.grant)
  const select = (record: JsonValue): JsonValue | null => {
    if (hides && isEmpty(record)) return null
    return shape === undefined ? record : shape(record, day)
  }
  const named = identifiersIn(predicate)
  const members = new Set<Identifier>()
  const noteMembers = (record: JsonValue): void => {
    for (const one of askedMembers(exchange.registry.kind, recordType, record, named)) members.add(one)
  }
  const hasMembers = named.length > 0 && recordType.identifiers.some(({ names }) => names === 'part')
  const documents = found.map(({ document }) => document)
  const shown = disclose(
    exchange.grant,
    recordType,
    documents,
    hides || shape ? select : null,
    hasMembers ? noteMembers : undefined,
  )
  const records: Disclosed[] = []
  let bytes = 0
  for (const record of shown) {
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
  if (records.length > 0 && members.size > 0) {
    const asked = { role: 'asked', identifiers: named } as const
    asks({ persons: [asked, { role: 'seen', identifiers: [...members] }] })
  }
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
  const query = recordQuery(criteria, today(registry), {
    cap,
    ids: mode.name === 'sync' ? 0 : cap,
    categories: exchange.grant.hidden.categories,
  })
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
