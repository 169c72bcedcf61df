/** Makes messages with questions about enrolments and disabilities, and reads values from the answers (N9, N10, D9). */
import {
  type DisabledRequest,
  type DisabledResponse,
  ENROLLED_ATTRIBUTES,
  type EnrolledRequest,
  type EnrolledResponse,
  type EnrollmentUpdatesResponse,
  type SearchResponse,
} from '@rollcall/protocol'
import type { UnderConsent } from '../consents.ts'
import { TransportError } from '../errors.ts'
import type { Answer, RequestOptions } from './messages.ts'
import type { RegistryRecord } from './records.ts'
import { type ItemOf, itemsOrThrow, resultsOf, searchItemsOrThrow } from './results.ts'

/** Asks whether a person is enrolled in a programme; without a programme, in any programme. */
export interface EnrolmentQuestion extends UnderConsent {
  /** The value of an identifier of the person. */
  readonly person: string
  /** The type of the identifier, such as NID. Without it, the value may belong to any type. */
  readonly identifier_type?: string
  /** The identifier of the programme. */
  readonly programme?: string
  /** The record type that the question is about; `Member` by default. */
  readonly response_entity?: string
}

/**
 * The person about whom a disability registry is asked: the value of one of the person's identifiers, alone or with a consent or
 * an authorization.
 */
export type DisabilityQuestion = string | (UnderConsent & { readonly person: string })

/** Options of `updateEnrolments`. */
export interface UpdateOptions extends RequestOptions {
  /** The subject of the update, such as `enrollement` or `enrollement_status_change`. */
  readonly receipt_type?: string
  /** The most beneficiaries in one message; 100 by default. */
  readonly batch_size?: number
}

/** The result of an update for one beneficiary. */
export interface EnrolmentUpdate {
  /** The place of the beneficiary in the list that was sent, from 0. */
  readonly index: number
  /** The reference_id in the answer. Rollcall gives the person's first identifier, or else the place in the message, from 0. */
  readonly reference_id: string
  readonly ok: boolean
  /** Why the beneficiary was rejected, or a remark of the registry on what it has written; null when there is neither. */
  readonly message: string | null
  /** Identifies the receipt together with `correlation_id`. `txnStatus` with the `txn_type` `receipt` returns the receipt. */
  readonly transaction_id: string
  readonly correlation_id: string
}

/** The most beneficiaries in one message of `updateEnrolments`, by default. */
export const UPDATE_BATCH_SIZE = 100

/** Makes the message of a question about an enrolment, without its transaction_id. */
export function enrolmentQuestionContent({
  person,
  identifier_type = ENROLLED_ATTRIBUTES.person[0],
  programme,
  response_entity = 'Member',
  ...under
}: EnrolmentQuestion): Omit<EnrolledRequest, 'transaction_id'> {
  const query = {
    [identifier_type]: { eq: person },
    ...(programme !== undefined && { [ENROLLED_ATTRIBUTES.programme[0]]: { eq: programme } }),
  }
  return { enrolled_criteria: { query_type: 'expression', response_entity, query, ...consentIn(under) } }
}

/** Makes the message of a question to a disability registry, without its transaction_id. */
export function disabilityQuestionContent(asked: DisabilityQuestion): Omit<DisabledRequest, 'transaction_id'> {
  const { person, ...under } = typeof asked === 'string' ? { person: asked } : asked
  const query = { 'personal_details.member_identifier': { eq: person } }
  return { disabled_criteria: { query_type: 'expression', query, ...consentIn(under) } }
}

const consentIn = ({ consent, authorize }: UnderConsent): UnderConsent => ({
  ...(consent !== undefined && { consent }),
  ...(authorize !== undefined && { authorize }),
})

type WithMessage<Message> = { readonly message: Message }

/**
 * Reads the result for each beneficiary of one message.
 * @param sent the number of beneficiaries in the message
 * @param from the place of the message's first beneficiary in the whole list, from 0
 * @throws TransportError the answer has more or fewer than `sent` items
 */
export function updateResultsIn(
  answer: WithMessage<EnrollmentUpdatesResponse>,
  sent: number,
  from: number,
): readonly EnrolmentUpdate[] {
  const { transaction_id, correlation_id } = answer.message
  const results = resultsOf(answer)
  if (results.length !== sent) {
    throw unreadableError(`the answer has ${results.length} results for ${sent} beneficiaries`)
  }
  return results.map(({ ok, reference_id, ...result }, at) => {
    const message = 'item' in result ? (result.item.status_reason_message ?? null) : result.rejection.message
    return { index: from + at, reference_id, ok, message, transaction_id, correlation_id }
  })
}

/** True when the answer says that the person is enrolled. @throws ItemRejected, TransportError */
export function isEnrolledIn(answer: WithMessage<EnrolledResponse>): boolean {
  return requireYesOrNo(requireOnlyItem(answer).enrolled_status, 'enrolled_status')
}

/** The enrolment status in the answer. @throws ItemRejected, TransportError */
export function enrolmentStatusIn(answer: WithMessage<EnrolledResponse>): string {
  const { enrolled_status = '' } = requireOnlyItem(answer)
  if (enrolled_status === '') throw unreadableError('the answer has no enrolled_status')
  return enrolled_status
}

/** True when the answer says that the person is disabled. @throws ItemRejected, TransportError */
export function isDisabledIn(answer: WithMessage<DisabledResponse>): boolean {
  return requireYesOrNo(requireOnlyItem(answer).disabled_status, 'disabled_status')
}

/**
 * The records in all items of an answer.
 * @throws ItemRejected
 * @throws TransportError the status of an item, or of an answer without items, says that the registry has not searched yet
 */
export function recordsIn(answer: Answer<SearchResponse>): readonly RegistryRecord[] {
  return searchItemsOrThrow(answer).flatMap((item) => item.data?.reg_records ?? [])
}

function requireOnlyItem<Message extends object>(answer: WithMessage<Message>): ItemOf<Message> {
  const [item, ...others] = itemsOrThrow(answer)
  if (item === undefined || others.length > 0) throw unreadableError('the answer must have one item')
  return item
}

/** Reads yes or no. Refuses any other word: somebody may lose a benefit by a wrong "no". */
function requireYesOrNo(word: string | undefined, member: string): boolean {
  if (word === 'yes' || word === 'no') return word === 'yes'
  throw unreadableError(`${member} must be yes or no`)
}

const unreadableError = (message: string): TransportError => new TransportError('unreadable', message)
