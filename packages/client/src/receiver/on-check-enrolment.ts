/** Answers whether a person is still enrolled, with a label from the public list (N10, D9). */
import { ENROLLED_ATTRIBUTES, RequestFault, readEqualsQuery } from '@rollcall/protocol'
import type { AnswerHandler, Question } from './questions.ts'

/** The labels in the public list of enrolment statuses. A test compares them with the protocol's. */
export const ENROLMENT_LABELS = [
  'Active',
  'Deceased',
  'Exited',
  'Suspended',
  'Inactive',
  'Reinstated',
  'Awaiting Renewal',
] as const
export type EnrolmentLabel = (typeof ENROLMENT_LABELS)[number]

const INACTIVE_LABEL: EnrolmentLabel = 'Inactive'

/** A question of a peer: whether a person is still enrolled. */
export interface CheckedEnrolment {
  /** The value of an identifier of the person. */
  readonly person: string
  /** The programme that the question names; null for any programme. */
  readonly programme: string | null
  /** The whole question, as the receiver has read it. */
  readonly question: Question<'enrolment-status'>
}

/**
 * Makes a handler for `enrolment-status`.
 * @param statusOf returns the label of a person; null for an unknown one, who gets `Inactive`, as if not enrolled
 */
export function onCheckEnrolment(
  statusOf: (asked: CheckedEnrolment) => EnrolmentLabel | null | Promise<EnrolmentLabel | null>,
): AnswerHandler<'enrolment-status'> {
  return async (question) => {
    const place = 'message.enrolled_criteria.query'
    const { query } = question.message.enrolled_criteria
    const { person, programme = null } = readEqualsQuery(query, place, ENROLLED_ATTRIBUTES)
    if (person === undefined) throw new RequestFault('err.request.bad', `${place}: must compare person_identifier`)
    const enrolled_status = (await statusOf({ person, programme, question })) ?? INACTIVE_LABEL
    const item = {
      reference_id: person,
      timestamp: new Date().toISOString(),
      status: 'succ' as const,
      ...(enrolled_status === INACTIVE_LABEL && { status_reason_message: 'person not enrolled' }),
      enrolled_status,
    }
    return { enrolled_response: [item] }
  }
}
