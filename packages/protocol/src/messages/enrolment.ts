/** Enrolment messages of IBR and ESS. Spec "Enrolment messages"; N9, N10, D8 to D10. */
import Type, { type Static, type TProperties } from 'typebox'
import {
  Consent,
  CorrelationId,
  EchoedReferenceId,
  oneOf,
  RegistryRecord,
  Status,
  StatusReasonMessage,
  Timestamp,
  TransactionId,
} from '../common.ts'
import { IncomingConsent } from './incoming.ts'

export const EnrollmentUpdatesRequest = Type.Object(
  {
    transaction_id: TransactionId,
    enrolled_updates: Type.Object({
      receipt_type: Type.Optional(
        Type.String({
          description:
            'One of enrollement, enrollement_status_change, register, payment, deregister, in any spelling (N15, 3.1).',
        }),
      ),
      beneficiaries: Type.Array(RegistryRecord, { description: 'Beneficiary records.' }),
    }),
  },
  { title: 'EnrollmentUpdatesRequest', description: 'Enrolments that changed, sent to the IBR (spec "Enrolment messages").' },
)
export type EnrollmentUpdatesRequest = Static<typeof EnrollmentUpdatesRequest>

/**
 * The values of `receipt_type`, which says what an enrolment update is about (N15). All updates are read in the same way.
 */
export const RECEIPT_TYPES = ['enrollement', 'enrollement_status_change', 'register', 'payment', 'deregister'] as const

/** The schema for a received update. Each beneficiary is checked separately. */
export const IncomingEnrollmentUpdatesRequest = Type.Object({
  transaction_id: TransactionId,
  enrolled_updates: Type.Object({ receipt_type: Type.Optional(oneOf(RECEIPT_TYPES)), beneficiaries: Type.Array(Type.Unknown()) }),
})

/** The members of each item in an answer to an enrolment update, or to a question about one enrolment or disability. */
export const answerItemMemberSchemas = {
  reference_id: EchoedReferenceId,
  timestamp: Timestamp,
  status: Status,
  status_reason_message: Type.Optional(StatusReasonMessage),
} satisfies TProperties

export const EnrollmentUpdatesResponse = Type.Object(
  {
    transaction_id: TransactionId,
    correlation_id: CorrelationId,
    enrolled_response: Type.Array(Type.Object(answerItemMemberSchemas)),
  },
  { title: 'EnrollmentUpdatesResponse', description: 'One item for each beneficiary (spec "Enrolment messages", D8).' },
)
export type EnrollmentUpdatesResponse = Static<typeof EnrollmentUpdatesResponse>

/** The schema of a query: attribute names with {eq}, or attribute_name, operator and attribute_value (D10). */
export const AttributeEqualsQuery = Type.Record(Type.String(), Type.Unknown(), {
  title: 'AttributeEqualsQuery',
  description: 'An attribute name mapped to an object with key eq, or attribute_name, operator, attribute_value (D10).',
})

export const EnrolledRequest = Type.Object(
  {
    transaction_id: TransactionId,
    enrolled_criteria: Type.Object({
      query_type: Type.Optional(Type.String()),
      response_entity: Type.Optional(Type.String({ description: 'Names the entity, such as Member.' })),
      query: AttributeEqualsQuery,
      consent: Type.Optional(Consent),
      authorize: Type.Optional(Consent),
    }),
  },
  { title: 'EnrolledRequest', description: 'Asks whether a person is enrolled (spec "Enrolment messages", N9, N10).' },
)
export type EnrolledRequest = Static<typeof EnrolledRequest>

/** The schema for a received question about an enrolment. It allows any query: the query is read or refused later. */
export const IncomingEnrolledRequest = Type.Object({
  transaction_id: TransactionId,
  enrolled_criteria: Type.Object({
    query: Type.Unknown(),
    consent: Type.Optional(IncomingConsent),
    authorize: Type.Optional(IncomingConsent),
  }),
})

export const EnrolledResponse = Type.Object(
  {
    transaction_id: TransactionId,
    correlation_id: CorrelationId,
    enrolled_response: Type.Array(
      Type.Object({
        ...answerItemMemberSchemas,
        enrolled_status: Type.Optional(
          Type.String({ description: 'yes or no in an IBR, a label such as Active in an ESS (D9).' }),
        ),
      }),
    ),
  },
  { title: 'EnrolledResponse', description: 'Whether the person is enrolled (spec "Enrolment messages").' },
)
export type EnrolledResponse = Static<typeof EnrolledResponse>
