/** Answers one item of a search (spec "SearchRequest", "SearchResponse"). */

import type { ConsentUse } from '@rollcall/core/model/consent'
import type { Exchange } from '@rollcall/core/model/exchange'
import type { Grant } from '@rollcall/core/model/grant'
import type { Disclosed, ReplyMembers } from '@rollcall/core/model/outcome'
import { leavesOf, type Predicate } from '@rollcall/core/model/predicate'
import { PROTECTION_CATEGORIES } from '@rollcall/core/model/protection'
import type { FoundPage, FoundRecord, Identifier } from '@rollcall/core/model/records'
import {
  type CriteriaConsentMembers,
  checkAsksForOnePerson,
  consentFactsForAudit,
  isLimitedToOnePerson,
} from '@rollcall/core/policy/basis'
import { askedIdentifiersInRecordParts } from '@rollcall/core/policy/disclosed-persons'
import { discloseRecords } from '@rollcall/core/policy/disclosure'
import { checkIsPersonType, type ItemEmergency, readItemEmergency } from '@rollcall/core/policy/emergency'
import { checkSearchAllowed } from '@rollcall/core/policy/query-form'
import { applyCap, countingRulesOf, neverShowsRecords } from '@rollcall/core/policy/total'
import { askedAttributesAndPersons, checkColumnsBackfilled, usesColumnInBackfill } from '@rollcall/core/query/mentions'
import { mayComeFromOneQueryValue } from '@rollcall/core/query/person-criteria'
import { replaceAgesByDates } from '@rollcall/core/query/resolve-ages'
import { readSearchCriteria, type SearchCriteria } from '@rollcall/core/query/search-criteria'
import { dayIn, ItemRejection, isJsonObject, type JsonValue, PROTOCOL_VERSION } from '@rollcall/protocol'
import { checkItemConsent, consentUseOfRecord, type ItemConsent } from './consented.ts'
import { findRecordsInSlot, recordReaderOf, requireKindRecordType, runQueryInSlot } from './find-records.ts'
import type { FurtherPage, Item, ItemAnswer, ItemHandlerInput } from './item.ts'
import { takeGrantQuota, takeRequestIdentifierBudget } from './quota.ts'

/**
 * Answers an item with the page that the item asks for. An item that finds nothing is not rejected: its answer has
 * `reg_records: []`.
 */
export async function searchItem(received: ItemHandlerInput, item: Item): Promise<ItemAnswer> {
  // Rejects an item with invalid criteria, a query that the grant does not allow, or without a consent that it needs.
  const { work, criteria, emergency, consented } = await planSearch(received, item)
  const { exchange } = work
  // Rejects a query that needs columns in backfill, or that the source of the records cannot answer.
  checkNotBackfilling(exchange, criteria)
  await checkSourceCanAnswer(work, criteria)
  // An emergency is taken from the quota of emergencies, another item from quota and rate of items. This is done before the
  // search, so an item that finds nothing counts too. A query counts once for each identifier that it names, or once without any.
  const wanted = countAskedIdentifiers(exchange.grant, criteria.predicate) || 1
  await takeGrantQuota(work, emergency === null ? 'items' : 'emergencies', wanted)
  if (emergency !== null) countAndLogEmergencyUse(work, emergency)
  // `applyCap` rejects a search that finds too many records, or removes its records, as the grant says.
  const found = await findPermittedRecords(work, consented, criteria)
  const { total, records, ids, use, reason } = applyCap(exchange.grant, found, work.deps.limits.search_results)
  const { recordType, page_size, page_number } = criteria
  takeFromRecordBudget(work.budget, ids.length)
  const members = await replyMembersOfPage(work, criteria, records, { page_size, page_number, total })
  // Only an asynchronous item that asks for page 1 gets further pages, and only if the grant shows records (`isAlone` is false).
  const isAlone = neverShowsRecords(exchange.grant, recordType)
  const mayHaveMore = work.mode.name === 'async' && page_number === 1 && !isAlone
  const why = reason ?? (isAlone ? NOTHING_SHOWN_REASON : undefined)
  return {
    members: why === undefined ? members : { status_reason_message: why, ...members },
    ...(use !== null && { use }),
    ...(mayHaveMore && { found: { record_type: recordType.name, page_size, record_ids: ids } }),
  }
}

/** Tells the asking system that no page has records, even if some match. Without this text, other pages may have records. */
const NOTHING_SHOWN_REASON = 'search_criteria: this participant is shown nothing of such records, so the answer has none'

/** Counts and logs that the emergency part of the grant was used, but not for whom. The audit entry has the reason. */
function countAndLogEmergencyUse(
  { deps: { log, metrics }, exchange, addFacts }: ItemHandlerInput,
  { reason }: ItemEmergency,
): void {
  addFacts({ emergency: reason })
  const { participant, registry, grant, correlation_id } = exchange
  const where = { participant: participant.sender_id, registry: registry.namespace }
  metrics.emergencyUsed(where.participant, where.registry)
  log.warn({ ...where, grant: grant.id, correlation_id }, 'the emergency part of a grant was used')
}

/**
 * Finds the records that the grant allows. Under a consent it finds nothing when several persons share the identifier,
 * because it is unknown which of them consented, or when the consent has ended or covers nothing of the record.
 */
async function findPermittedRecords(
  work: ItemHandlerInput,
  { use, signed }: ItemConsent,
  criteria: SearchCriteria,
): Promise<FoundPage & { readonly use: ConsentUse | null }> {
  const { exchange } = work
  const wanted = withGrantConditions(exchange, criteria)
  if (use === null) return { ...(await findRecordsInSlot(work, wanted)), use }
  const isShared = await isSharedIdentifier(work, criteria)
  // The consent is checked by the one record, which is on page 1. An item that asks for a later page gets no record.
  const { total, records, ids } = await findRecordsInSlot(work, { ...wanted, page_number: 1 })
  const [record] = records
  if (isShared || total !== 1 || record === undefined) return { ...EMPTY_FOUND_PAGE, use }
  const { recordType, page_number } = criteria
  const useOfRecord = await consentUseOfRecord(work, use, recordType, record)
  // Only a signed consent says what it covers. `{}`: the record has nothing that the consent covers and the grant shows.
  const isShown = [...discloseRecords(exchange.grant, recordType, [record.document])].some(
    ({ text }) => signed === null || text !== '{}',
  )
  if (useOfRecord === null || !isShown) return { ...EMPTY_FOUND_PAGE, use: useOfRecord }
  return { total, records: page_number === 1 ? records : [], ids, use: useOfRecord }
}

/**
 * True when several persons have the identifier, hidden persons included. If hidden persons were left out, the participant could
 * learn which of these persons is not hidden, or who consented.
 */
async function isSharedIdentifier(
  work: ItemHandlerInput,
  { recordType, predicate }: Pick<SearchCriteria, 'recordType' | 'predicate'>,
): Promise<boolean> {
  const page = { sort: [], limit: 2, offset: 0, cap: 2, categories: PROTECTION_CATEGORIES }
  const { records } = await runQueryInSlot(work, { recordType, predicate, page })
  return records.length > 1
}

const EMPTY_FOUND_PAGE: FoundPage = { total: 0, records: [], ids: [] }

/** Counts the identifiers that a query names. An identifier without a type is looked up under several types, but counts once. */
function countAskedIdentifiers({ kind }: Pick<Grant, 'kind'>, predicate: Predicate): number {
  const counts = leavesOf(predicate).map((leaf) => {
    if (leaf.is !== 'identifier') return 0
    return mayComeFromOneQueryValue(kind, leaf.identifiers) ? 1 : new Set(leaf.identifiers.map(({ value }) => value)).size
  })
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Answers a further page, from the records that the first page found. Reading them needs a slot, like a search. */
export async function searchPage(
  received: ItemHandlerInput,
  item: Item,
  { page_size, page_number, total, record_ids }: FurtherPage,
): Promise<ItemAnswer> {
  const { work, criteria } = await planSearch(received, item)
  const { registry, participant, grant } = work.exchange
  if (isLimitedToOnePerson(grant) && total > 1) {
    throw new ItemRejection(
      'rjct.search_criteria.invalid',
      'search_criteria.query: found several people, and this participant may ask about one who consents',
    )
  }
  const records = await work.mode.searchSlots.run(participant.id, () =>
    recordReaderOf(work).read(registry, criteria.recordType, record_ids, grant.hidden.categories),
  )
  // A record may have changed since it was found: the disclosure leaves out those that the grant no longer shows.
  return { members: await replyMembersOfPage(work, criteria, records, { page_size, page_number, total }) }
}

async function replyMembersOfPage(
  work: ItemHandlerInput,
  criteria: SearchCriteria,
  records: readonly FoundRecord[],
  { total, ...page }: { readonly page_size: number; readonly page_number: number; readonly total: number },
): Promise<ReplyMembers> {
  const shown = disclosedRecords(work, criteria, records)
  // An answer without records counts as one record. Otherwise a participant whose quota is used up could tell whether there is a
  // record: with a record the item would be rejected, without one it would be answered.
  await takeGrantQuota(work, 'records', Math.max(1, shown.length))
  const { grant } = work.exchange
  const others = neverShowsRecords(grant, criteria.recordType) ? 'never' : work.mode.name === 'async' ? 'sent' : 'on request'
  const total_count = countingRulesOf(grant).total(total, { ...page, shown: shown.length, others })
  const { reg_type, reg_record_type } = criteria
  const data = { version: PROTOCOL_VERSION, reg_type, reg_record_type, reg_records: shown }
  return { data, pagination: { ...page, total_count } }
}

/**
 * Takes the found records from the budget of a request, or of a chunk, because their ids are held in memory and each page is a
 * callback. A search without further pages returns no ids, so nothing is taken. @throws ItemRejection the budget has too few left
 */
function takeFromRecordBudget(budget: ItemHandlerInput['budget'], found: number): void {
  if (found > budget.records) {
    throw new ItemRejection(
      'rjct.search.too_many_records_found',
      'search_criteria: the records that this request finds are too many; send fewer items or narrow the search',
    )
  }
  budget.records -= found
}

/** An item that was read and checked, with all that its search needs. */
interface SearchPlan {
  /** With the grant for this item: in an emergency its emergency part; under a signed consent only what the consent covers. */
  readonly work: ItemHandlerInput
  readonly criteria: SearchCriteria
  readonly emergency: ItemEmergency | null
  readonly consented: ItemConsent
}

/** Reads an item, checks its form and its consent, and plans its search: the grant, the record type and the predicate. */
async function planSearch(received: ItemHandlerInput, item: Item): Promise<SearchPlan> {
  const { asked, identifiers, emergency } = readAskedSearch(received, item)
  const { deps, exchange: receivedExchange, addFacts } = received
  const exchange = emergency === null ? receivedExchange : { ...receivedExchange, grant: emergency.grant }
  // Rejects a sort or a form of query that the grant does not allow.
  checkSearchAllowed(exchange.grant, asked)
  // Rejects the item if the consent that the grant demands is missing or invalid, or if the query asks about several persons.
  const given = item.search_criteria as CriteriaConsentMembers
  const consented = await checkItemConsent({ deps, exchange }, given, 'search_criteria', identifiers)
  addFacts(consented.facts)
  checkAsksForOnePerson(exchange.grant, asked)
  // The record type of `asked` has only what may be asked about. From here on the whole record type is needed: the conditions of
  // the grant and the disclosure use other attributes too.
  const recordType = requireKindRecordType(exchange.registry.kind, asked.recordType)
  // Under a consent only its person is searched for; if the consent has ended, by random identifiers, which nobody has.
  const predicate: Predicate = consented.use === null ? asked.predicate : { is: 'identifier', identifiers: consented.identifiers }
  const work = { ...received, exchange: { ...exchange, grant: consented.grant } }
  return { work, criteria: { ...asked, recordType, predicate }, emergency, consented }
}

/** Reads the criteria, with only what the grant allows to ask about, and the emergency. */
function readAskedSearch({ deps, exchange, budget, addFacts }: ItemHandlerInput, item: Item) {
  const { participant, grant } = exchange
  const given = item.search_criteria as CriteriaConsentMembers
  const now = new Date(deps.clock.date())
  const readEmergency = (): ItemEmergency | null => readItemEmergency(grant, given, now)
  // A graphql query may select what the grant shows. In an emergency the grant shows more, so the emergency is read here already.
  const visible = () => (readEmergency()?.grant ?? grant).visible
  const sizes = [participant.max_page_size, grant.terms.page_size].filter((size) => size != null)
  const max_page_size = sizes.length === 0 ? null : Math.min(...sizes)
  // Rejects invalid criteria: the members of a consent, the record type, the query, the sort or the page.
  const asked = readSearchCriteria(grant.kind, item, deps.limits, { max_page_size, visible })
  // Rejects the item if, with it, the items of the request name more identifiers than a request may name.
  const mentioned = askedAttributesAndPersons(asked)
  takeRequestIdentifierBudget({ deps, budget }, mentioned, 'rjct.search_criteria.invalid', 'search_criteria.query')
  addFacts({ record_type: asked.recordType.name, form: asked.form, ...mentioned, ...consentFactsForAudit(grant, given) })
  // Rejects an emergency without a valid time or reason.
  const emergency = readEmergency()
  if (emergency !== null) checkIsPersonType(emergency, asked.recordType)
  return { asked, identifiers: mentioned.persons.flatMap(({ identifiers }) => identifiers), emergency }
}

/** The criteria, for only those records that also fulfil the conditions of the grant for this record type. */
function withGrantConditions({ grant }: Exchange, criteria: SearchCriteria): SearchCriteria {
  const rows = grant.rows.get(criteria.recordType.name)
  if (rows === undefined) return criteria
  return { ...criteria, predicate: { is: 'and', of: [criteria.predicate, rows] } }
}

/**
 * Refuses a search of columns that are being backfilled.
 * @throws ItemRejection it names the column when the query uses it, but not when only the conditions of the grant do
 */
function checkNotBackfilling({ registry, grant }: Exchange, criteria: SearchCriteria): void {
  checkColumnsBackfilled(registry.unfilled, criteria)
  const rows = grant.rows.get(criteria.recordType.name)
  if (rows === undefined || !usesColumnInBackfill(registry.unfilled, criteria.recordType, rows)) return
  throw new ItemRejection(
    'rjct.search_criteria.invalid',
    'search_criteria: records are being backfilled and cannot be searched yet; ask again later',
  )
}

/**
 * Checks that the source of the records can answer the query. The conditions of the grant are left out: they are
 * checked on the records that are found.
 * @throws ItemRejection
 */
async function checkSourceCanAnswer(
  { deps, exchange: { registry, grant } }: ItemHandlerInput,
  criteria: SearchCriteria,
): Promise<void> {
  const source = deps.recordsOf(registry)
  if (source.refusal === undefined) return
  const { recordType } = criteria
  const predicate = replaceAgesByDates(criteria.predicate, recordType, dayIn(registry.time_zone, deps.clock.date()))
  const asked = requireKindRecordType(grant.kind, recordType)
  const rule = await source.refusal({ ...registry, kind: grant.kind }, { recordType: asked, predicate })
  if (rule !== null) throw new ItemRejection('rjct.search_criteria.invalid', `search_criteria.query: ${rule}`)
}

const isEmptyRecord = (record: JsonValue): boolean => isJsonObject(record) && Object.keys(record).length === 0

/**
 * Discloses records within the budget of bytes. Bytes are counted while records are made, because a record in the shape that the
 * query selects may be longer than the stored one. If the records are households with members whom the query names, the
 * identifiers of these members are added to the audit entry.
 * @throws ItemRejection the records are too many; the budget is then unchanged
 */
function disclosedRecords(
  { deps, exchange, budget, addFacts }: ItemHandlerInput,
  { recordType, predicate, shape }: SearchCriteria,
  found: readonly FoundRecord[],
): readonly Disclosed[] {
  const day = dayIn(exchange.registry.time_zone, deps.clock.date())
  const hides = countingRulesOf(exchange.grant).hidesEmpty
  const select = (record: JsonValue): JsonValue | null => {
    if (hides && isEmptyRecord(record)) return null
    return shape === undefined ? record : shape(record, day)
  }
  const { persons } = askedAttributesAndPersons({ predicate })
  const named = persons.flatMap(({ identifiers }) => identifiers)
  const members = new Set<Identifier>()
  const noteMembers = (record: JsonValue): void => {
    for (const one of askedIdentifiersInRecordParts(exchange.registry.kind, recordType, record, named)) members.add(one)
  }
  const hasMembers = named.length > 0 && recordType.identifiers.some(({ names }) => names === 'part')
  const documents = found.map(({ document }) => document)
  const shown = discloseRecords(
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
    addFacts({ persons: [...persons, { role: 'seen', identifiers: [...members] }] })
  }
  return records
}
