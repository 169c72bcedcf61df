/** Messages of operations that only a disability registry has. Public standard 2.7. */
import Type, { type Static } from 'typebox'
import { Consent, CorrelationId, oneOf, TransactionId } from '../common.ts'
import { AttributeEqualsQuery, answerItemMemberSchemas } from './enrolment.ts'
import { IncomingConsent } from './incoming.ts'

/** The schema of a question about a person's disability: whether it is registered, its details, or the support. */
export const DisabledRequest = Type.Object(
  {
    transaction_id: TransactionId,
    disabled_criteria: Type.Object({
      query_type: Type.Optional(Type.String()),
      query: AttributeEqualsQuery,
      consent: Type.Optional(Consent),
      authorize: Type.Optional(Consent),
    }),
  },
  { title: 'DisabledRequest', description: 'Names a person by an attribute, such as the member identifier (2.7).' },
)
export type DisabledRequest = Static<typeof DisabledRequest>

export const IncomingDisabledRequest = Type.Object({
  transaction_id: TransactionId,
  disabled_criteria: Type.Object({
    query: Type.Unknown(),
    consent: Type.Optional(IncomingConsent),
    authorize: Type.Optional(IncomingConsent),
  }),
})

export const DisabledResponse = Type.Object(
  {
    transaction_id: TransactionId,
    correlation_id: CorrelationId,
    disabled_response: Type.Array(
      Type.Object({ ...answerItemMemberSchemas, disabled_status: Type.Optional(oneOf(['yes', 'no'])) }),
    ),
  },
  { title: 'DisabledResponse', description: 'Whether the person is registered as disabled (2.7).' },
)
export type DisabledResponse = Static<typeof DisabledResponse>
