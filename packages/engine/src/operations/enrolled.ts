/** Answers enrolled and enrolment-status: is a person enrolled? (spec "Enrolment messages", N9, N10, D9, D10) */

import { isActiveAt, readEnrolments } from '@rollcall/core/enrolment/enrolments'
import { codeLabel, heldValue, type JsonValue, type RecordType, readAttribute } from '@rollcall/protocol'
import type { AnswerDeps, ItemAnswer, MessageToAnswer } from './item.ts'
import type { Outcome } from './outcome.ts'
import { answerAboutPerson, documentOf, type QuestionWithRecord } from './person.ts'

/** The options that enrolled and enrolment-status share. `isTold`: the answer is a fact about the person, without the record. */
const ENROLLED_QUESTION = { name: 'enrolled_criteria', isTold: true } as const

/**
 * Answers yes or no, as a beneficiary registry does: is an enrolment active now, in the programme of the question or in
 * any? An unknown person gets the answer for a person who is not enrolled.
 */
export const answerEnrolled = (deps: AnswerDeps, asked: MessageToAnswer): Promise<Outcome> =>
  answerAboutPerson(deps, asked, { ...ENROLLED_QUESTION, programme: true, consentNeeded: 'enrolment' }, (about) => {
    return { members: { enrolled_status: isEnrolled(about) ? 'yes' : 'no' } }
  })

function isEnrolled(about: QuestionWithRecord): boolean {
  const { work, criteria } = about
  const { recordType, programme } = criteria
  const document = documentOf(about)
  const now = work.deps.clock.date()
  return readEnrolments(recordType, document).some(
    (enrolment) =>
      (programme === null || enrolment.programme === programme) &&
      isActiveAt(recordType, enrolment, now, work.exchange.registry.time_zone),
  )
}

const NOT_ENROLLED: ItemAnswer = { members: { enrolled_status: 'Inactive', status_reason_message: 'person not enrolled' } }

/**
 * Answers with the label of the person's status, as an employment support system does. An unknown person, and a person without a
 * status, get the answer for an inactive person.
 */
export const answerEnrolmentStatus = (deps: AnswerDeps, asked: MessageToAnswer): Promise<Outcome> =>
  answerAboutPerson(deps, asked, { ...ENROLLED_QUESTION, programme: false, consentNeeded: 'enrolment_status' }, (about) => {
    const label = findEnrolmentStatusLabel(about.criteria.recordType, documentOf(about))
    if (label === null || label === NOT_ENROLLED.members.enrolled_status) return NOT_ENROLLED
    return { members: { enrolled_status: label } }
  })

/** The label of a status in the list of the kind, or else the status as the record has it; null: the person has none. */
function findEnrolmentStatusLabel({ attributes }: RecordType, document: JsonValue): string | null {
  const attribute = attributes.find(({ name }) => name === 'enrolment_status')
  if (attribute?.codes === undefined) return null
  const code = readAttribute(attribute, document)
  if (typeof code !== 'string') return null
  return codeLabel(attribute.codes, code) ?? String(heldValue(attribute)(document))
}
