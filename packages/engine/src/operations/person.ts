/**
 * Answers the questions about one person, which ask about enrolment or disability: finds the person's record, and answers from
 * the record.
 */

import { isNameGranted } from '@rollcall/core/model/grant'
import type { Predicate } from '@rollcall/core/model/predicate'
import { PROTECTION_CATEGORIES } from '@rollcall/core/model/protection'
import type { FoundRecord, Identifier } from '@rollcall/core/model/records'
import type { CriteriaConsentMembers } from '@rollcall/core/policy/basis'
import { isNamedInConsent } from '@rollcall/core/policy/consent-coverage'
import { auditedPersonOf } from '@rollcall/core/policy/disclosed-persons'
import { isRecordGranted } from '@rollcall/core/policy/disclosure'
import type { Criteria } from '@rollcall/core/query/criteria'
import { checkColumnsBackfilled } from '@rollcall/core/query/mentions'
import { type PersonAndProgramme, type PersonQuestion, readPersonCriteria } from '@rollcall/core/query/person-criteria'
import { ItemRejection, type JsonValue } from '@rollcall/protocol'
import { answerOneQuestionMessage } from './batch.ts'
import { checkItemConsent, consentUseOfRecord } from './consented.ts'
import { findRecordsMeasured, requireKindRecordType } from './find-records.ts'
import type { AnswerDeps, ItemAnswer, ItemHandlerInput, MessageToAnswer } from './item.ts'
import type { Outcome } from './outcome.ts'
import { takeGrantQuota } from './quota.ts'
import { applyBegunStatusesInMemory } from './scheduled-statuses.ts'

/** A question about a person, with the person's record. */
export interface QuestionWithRecord {
  readonly work: ItemHandlerInput
  readonly criteria: PersonAndProgramme
  /** The record; null: `findPerson` found none, or the consent does not hold or does not cover the question. */
  readonly record: ParsedRecord | null
}

/** The found record of a person, with its parsed document. */
interface ParsedRecord extends FoundRecord {
  readonly read: JsonValue
}

/** A question about a person, such as enrolled, and the part of the record that a signed consent must cover for it. */
export interface PersonQuestionDefinition extends PersonQuestion {
  /** The name of the attribute, list or member of the record that a consent must cover. */
  readonly consentNeeded: string
  /** Set when the answer is a fact about the person, such as yes or no, and not the record. The audit entry names the fact. */
  readonly isTold?: true
}

/** The reference_id of the answer when the question is invalid, so that the person in it is not known. */
const UNKNOWN_REFERENCE_ID = '0'

/** Answers a question about one person. All such questions find the person in the same way. */
export async function answerAboutPerson(
  deps: AnswerDeps,
  asked: MessageToAnswer,
  { consentNeeded, isTold, ...question }: PersonQuestionDefinition,
  answer: (about: QuestionWithRecord) => ItemAnswer | Promise<ItemAnswer>,
): Promise<Outcome> {
  const { registry, grant } = asked.exchange
  const given = asked.message[question.name] as Criteria
  let criteria: PersonAndProgramme
  try {
    const read = readPersonCriteria(grant.person_kind, question, given, deps.limits)
    // `read.recordType` has only what the grant allows to ask about. The answer needs the record type of the whole record.
    criteria = { ...read, recordType: requireKindRecordType(registry.kind, read.recordType) }
  } catch (error) {
    return answerOneQuestionMessage(deps, asked, UNKNOWN_REFERENCE_ID, () => Promise.reject(error))
  }
  return answerOneQuestionMessage(deps, asked, criteria.person, async (asking) => {
    const { recordType, identifiers: named } = criteria
    const facts = { record_type: recordType.name, form: 'identifier' }
    asking.addFacts({ ...facts, persons: [{ role: 'asked', identifiers: named }] })
    const consented = await checkItemConsent(asking, given as CriteriaConsentMembers, question.name, named)
    asking.addFacts(consented.facts)
    const { grant: ownGrant, identifiers, signed, use } = consented
    const work = { ...asking, exchange: { ...asking.exchange, grant: ownGrant } }
    const found = await findPerson(work, question, { ...criteria, identifiers }, use !== null)
    const all = use && found && (await consentUseOfRecord(work, use, recordType, found))
    const isConsented = use === null || (all !== null && (signed === null || isNamedInConsent(signed, consentNeeded)))
    if (found !== null) {
      // The audit entry names this person by the identifiers in the record, not by those that the question names.
      const { identifiers: own } = auditedPersonOf(registry.kind, recordType, found.read)
      const told = isTold && isConsented
      const persons = [{ role: told ? 'seen' : 'asked', identifiers: own } as const]
      asking.addFacts({ persons, ...(told && { told: consentNeeded }) })
    }
    const answered = await answer({ work, criteria, record: isConsented ? found : null })
    const counting = found === null ? use : all
    return { ...answered, ...(counting !== null && { use: counting }) }
  })
}

/**
 * Finds the person by the registry's primary identifier, or else by the other identifiers.
 * @param isConsented whether the question is asked under a consent
 * @returns null: the grant shows nobody with the identifiers; or, under a consent, several persons share an identifier
 * @throws ItemRejection the identifier names several persons, or the grant allows none of the identifiers' types
 * @throws ItemRejection, RequestFault the quota or the rate of the grant is reached (`takeGrantQuota`)
 */
async function findPerson(
  work: ItemHandlerInput,
  { name }: PersonQuestion,
  criteria: PersonAndProgramme,
  isConsented: boolean,
): Promise<ParsedRecord | null> {
  const { recordType } = criteria
  const { identifiers: seen } = work.exchange.grant
  const identifiers = criteria.identifiers.filter(({ type }) => isNameGranted(seen.types, type))
  if (identifiers.length === 0) {
    throw new ItemRejection(
      'rjct.search_criteria.invalid',
      `${name}.query: this participant may ask by ${[...(seen.types ?? [])].join(', ')} only`,
    )
  }
  await takeGrantQuota(work, 'items', 1, name)
  const primary = recordType.primary_identifier
  const advice = isNameGranted(seen.types, primary) ? `; ask with a ${primary}` : ''
  const isOwn = ({ type }: Identifier): boolean => type === primary
  for (const wanted of [identifiers.filter(isOwn), identifiers.filter((one) => !isOwn(one))]) {
    // Under a consent, hidden persons are found too: if several persons share the identifier, it is unknown who consented.
    const sharing = isConsented ? await findByAnyIdentifier(work, name, criteria, wanted, { isWhole: true }) : []
    const found = (await findByAnyIdentifier(work, name, criteria, wanted))
      .map(parseRecordDocument)
      .filter(({ read }) => isRecordGranted(work.exchange.grant, recordType, read))
    if (sharing.length > 1) return null
    if (found.length > 1) {
      throw new ItemRejection('rjct.search_criteria.invalid', `${name}.query: the identifier names more than one person${advice}`)
    }
    const [one] = found
    if (one === undefined) continue
    const current = await applyBegunStatusesInMemory(work.deps, work.exchange.registry, recordType, one)
    return current === one ? one : parseRecordDocument(current)
  }
  return null
}

const parseRecordDocument = (record: FoundRecord): ParsedRecord => ({ ...record, read: JSON.parse(record.document) })

/**
 * Finds the records with any of the identifiers, at most two for each.
 * @param isWhole true: all records of the registry are searched, also hidden persons and records that the grant excludes
 */
async function findByAnyIdentifier(
  work: ItemHandlerInput,
  name: PersonQuestion['name'],
  { recordType }: PersonAndProgramme,
  identifiers: readonly Identifier[],
  { isWhole = false }: { readonly isWhole?: boolean } = {},
): Promise<readonly FoundRecord[]> {
  const { grant } = work.exchange
  const categories = isWhole ? PROTECTION_CATEGORIES : grant.hidden.categories
  const page = { sort: [], limit: 2, offset: 0, cap: 2, categories }
  // The search has the conditions of the grant, because it returns two records at most. Otherwise it could return two records
  // that the grant does not show, and leave out a third that the grant shows.
  const rows = isWhole ? undefined : grant.rows.get(recordType.name)
  const found = await Promise.all(
    identifiers.map((identifier) => {
      const named: Predicate = { is: 'identifier', identifiers: [identifier] }
      const predicate: Predicate = rows === undefined ? named : { is: 'and', of: [named, rows] }
      const query = { recordType, predicate, page }
      checkColumnsBackfilled(work.exchange.registry.unfilled, { ...query, sort: [] }, name)
      return findRecordsMeasured(work, query)
    }),
  )
  const records = new Map(found.flatMap(({ records }) => records.map((record) => [record.id, record])))
  return [...records.values()]
}

/**
 * The person's whole record, from which the operation makes its answer; null when `record` is null. The attributes that the grant
 * shows in searches do not limit the answer.
 */
export const documentOf = ({ record }: QuestionWithRecord): JsonValue => record?.read ?? null
