/** Answers the questions of a disability registry about one person (public standard 2.7, D31). */

import type { Disclosed } from '@rollcall/core/model/outcome'
import { discloseRecordParts } from '@rollcall/core/policy/disclosure'
import {
  heldAt,
  type JsonValue,
  normaliseCode,
  PROTOCOL_VERSION,
  REG_TYPE_PREFIX,
  type RecordType,
  readAttribute,
} from '@rollcall/protocol'
import type { AnswerDeps, MessageToAnswer } from './item.ts'
import type { Outcome } from './outcome.ts'
import { answerAboutPerson, documentOf, type QuestionWithRecord } from './person.ts'
import { takeGrantQuota } from './quota.ts'

const DISABILITY_QUESTION = { name: 'disabled_criteria', programme: false, event_type: true } as const

/**
 * Answers yes or no: is the person registered as disabled? A status that is not approved, such as pending or expired, means no. A
 * record without a status means yes, because the person is in the registry.
 */
export const answerDisabled = (deps: AnswerDeps, asked: MessageToAnswer): Promise<Outcome> =>
  answerAboutPerson(deps, asked, { ...DISABILITY_QUESTION, consentNeeded: 'disability_status', isTold: true }, (about) => {
    const document = documentOf(about)
    const registered = document !== null && isDisabilityApproved(about.criteria.recordType, document)
    return { members: { disabled_status: registered ? 'yes' : 'no' } }
  })

function isDisabilityApproved({ attributes }: RecordType, document: JsonValue): boolean {
  const attribute = attributes.find(({ name }) => name === 'disability_status')
  const status = attribute && readAttribute(attribute, document)
  if (attribute?.codes === undefined || status === undefined || status === null) return true
  return status === normaliseCode(attribute.codes, 'Approved')
}

/** Makes the handler that answers with the values of one member of the person's record, each value as a record of the answer. */
const makeRecordMemberHandler =
  (member: string) =>
  (deps: AnswerDeps, asked: MessageToAnswer): Promise<Outcome> =>
    answerAboutPerson(deps, asked, { ...DISABILITY_QUESTION, consentNeeded: member }, async (about) => {
      const { recordType } = about.criteria
      const records = disclosePartsOfRecord(about, heldAt(member))
      // An answer without records takes one record from the quota, as in a search. Otherwise a participant whose quota is used up
      // would learn who has no such values: only questions about these persons would still be answered.
      await takeGrantQuota(about.work, 'records', Math.max(1, records.length), DISABILITY_QUESTION.name)
      const data = {
        version: PROTOCOL_VERSION,
        reg_type: `${REG_TYPE_PREFIX}${asked.exchange.registry.kind.reg_type.name}`,
        reg_record_type: recordType.emitted,
        reg_records: records,
      }
      const page = { page_size: Math.max(1, records.length), page_number: 1, total_count: records.length }
      return { members: { data, pagination: page } }
    })

/** Answers with the `disability_details` of the person's record. */
export const answerDisabilityDetails = makeRecordMemberHandler('disability_details')

/** Answers with the `disability_support` of the person's record. */
export const answerDisabilitySupport = makeRecordMemberHandler('disability_support')

/** Discloses the values that `read` finds in the person's record, each as a record; empty when there is no record. */
function disclosePartsOfRecord(
  { work, criteria, record }: QuestionWithRecord,
  read: (document: JsonValue) => JsonValue[],
): readonly Disclosed[] {
  if (record === null) return []
  return [...discloseRecordParts(work.exchange.grant, criteria.recordType, record.document, read)]
}
