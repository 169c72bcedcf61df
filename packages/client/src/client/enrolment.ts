/** Questions about enrolments and disabilities in the documented form, and the values of answers (N9, N10, D9, 2.7). */
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
import type { RequestOptions } from './messages.ts'
import type { RegistryRecord } from './records.ts'
import { type ItemOf, itemsOrThrow, resultsOf } from './results.ts'

/** Asks whether this person is enrolled in a programme; without a programme: in any. */
export interface EnrolmentQuestion extends UnderConsent {
  /** The value of the member identifier, or of any identifier of the person. */
  readonly person: string
  /** The type of that identifier, such as NID; without it the value may belong to any type. */
  readonly identifier_type?: string
  /** The programme identifier. */
  readonly programme?: string
  /** The entity of the question; `Member` by default. */
  readonly response_entity?: string
}

/** The person of a question to a disability registry: the member identifier, alone or with a consent. */
export type DisabilityQuestion = string | (UnderConsent & { readonly person: string })

export interface UpdateOptions extends RequestOptions {
  /** Such as `enrollement` or `enrollement_status_change`. */
  readonly receipt_type?: string
  /** Beneficiaries of one message; 100 by default. */
  readonly batch_size?: number
}

/** The result for one beneficiary of an update. */
export interface EnrolmentUpdate {
  /** Place in the list that was sent, from 0. */
  readonly index: number
  /** The member identifier; without one, the beneficiary's place in the message. */
  readonly reference_id: string
  readonly ok: boolean
  /** The registry's text: why it rejected the beneficiary, or what it replaced. */
  readonly message: string | null
  /** With `correlation_id` it names the receipt: `txnStatus` with `txn_type` receipt returns it. */
  readonly transaction_id: string
  readonly correlation_id: string
}

export const UPDATE_BATCH = 100

export function enrolledContent({
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

export function disabledContent(asked: DisabilityQuestion): Omit<DisabledRequest, 'transaction_id'> {
  const { person, ...under } = typeof asked === 'string' ? { person: asked } : asked
  const query = { 'personal_details.member_identifier': { eq: person } }
  return { disabled_criteria: { query_type: 'expression', query, ...consentIn(under) } }
}

const consentIn = ({ consent, authorize }: UnderConsent): UnderConsent => ({
  ...(consent !== undefined && { consent }),
  ...(authorize !== undefined && { authorize }),
})

type Said<Message> = { readonly message: Message }

/** @throws TransportError when it answers for more or fewer beneficiaries than were sent */
export function updatesIn(
  answer: Said<EnrollmentUpdatesResponse>,
  sent: number,
  from: number,
): readonly EnrolmentUpdate[] {
  const { transaction_id, correlation_id } = answer.message
  const results = resultsOf(answer)
  if (results.length !== sent) {
    throw unreadable(`the answer has ${results.length} results for ${sent} beneficiaries`)
  }
  return results.map(({ ok, reference_id, ...result }, at) => {
    const message = 'item' in result ? (result.item.status_reason_message ?? null) : result.rejection.message
    return { index: from + at, reference_id, ok, message, transaction_id, correlation_id }
  })
}

/** @throws ItemRejected, TransportError */
export function isEnrolledIn(answer: Said<EnrolledResponse>): boolean {
  return yesOrNo(onlyItem(answer).enrolled_status, 'enrolled_status')
}

/** @throws ItemRejected, TransportError */
export function statusIn(answer: Said<EnrolledResponse>): string {
  const { enrolled_status = '' } = onlyItem(answer)
  if (enrolled_status === '') throw unreadable('the answer has no enrolled_status')
  return enrolled_status
}

/** @throws ItemRejected, TransportError */
export function isDisabledIn(answer: Said<DisabledResponse>): boolean {
  return yesOrNo(onlyItem(answer).disabled_status, 'disabled_status')
}

/** The records of all items. @throws ItemRejected */
export function recordsIn(answer: Said<SearchResponse>): readonly RegistryRecord[] {
  return itemsOrThrow(answer).flatMap((item) => item.data?.reg_records ?? [])
}

function onlyItem<Message extends object>(answer: Said<Message>): ItemOf<Message> {
  const [item, ...others] = itemsOrThrow(answer)
  if (item === undefined || others.length > 0) throw unreadable('the answer must have one item')
  return item
}

/** Accepts no other word: somebody may lose a benefit by a false "no". */
function yesOrNo(word: string | undefined, member: string): boolean {
  if (word === 'yes' || word === 'no') return word === 'yes'
  throw unreadable(`${member} must be yes or no`)
}

const unreadable = (message: string): TransportError => new TransportError('unreadable', message)
