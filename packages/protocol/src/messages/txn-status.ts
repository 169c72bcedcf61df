/**
 * The schemas of a question about an earlier transaction. Spec "TxnStatusRequest", "TxnStatusResponse"; values from N4,
 * D13 to D15.
 */
import Type, { type Static } from 'typebox'
import { CorrelationId, Locale, oneOf, ReferenceId, RegistryRecord, TransactionId } from '../common.ts'
import { EnrollmentUpdatesResponse } from './enrolment.ts'
import { SearchResponse } from './search.ts'
import { SubscribeResponse } from './subscribe.ts'
import { UnSubscribeResponse } from './unsubscribe.ts'

/** The type of the earlier transaction: the types of all kinds together (D14). */
export const TxnType = oneOf(['search', 'subscribe', 'unsubscribe', 'receipt'], {
  description: 'Which transactions are asked about (N4, D14).',
})
export type TxnType = Static<typeof TxnType>

/** The attribute that identifies the earlier transaction: the attributes of all kinds together (D15). */
export const TxnAttributeType = oneOf(['transaction_id', 'reference_id_list', 'correlation_id', 'subscription_code_list'], {
  description: 'What attribute_value holds (N4, D15).',
})

const StatusAttributeValue = Type.String({ minLength: 1, maxLength: 99 })

/** The largest number of values in one status request: as many as a batch can have items. */
const MAX_STATUS_REQUEST_VALUES = 10_000

/** The schema of the member `txnstatus_request`: which earlier transaction a `TxnStatusRequest` asks about. */
export const TxnStatusQuestion = Type.Object(
  {
    reference_id: ReferenceId,
    txn_type: TxnType,
    attribute_type: TxnAttributeType,
    attribute_value: Type.Union(
      [StatusAttributeValue, Type.Array(StatusAttributeValue, { maxItems: MAX_STATUS_REQUEST_VALUES })],
      { description: 'One value, or a list for the attribute types that end in _list (N4).' },
    ),
    locale: Type.Optional(Locale),
  },
  { title: 'TxnStatusQuestion', description: 'Which transaction is meant (spec "TxnStatusRequest", N4).' },
)
export type TxnStatusQuestion = Static<typeof TxnStatusQuestion>

export const TxnStatusRequest = Type.Object(
  { transaction_id: TransactionId, txnstatus_request: TxnStatusQuestion },
  { title: 'TxnStatusRequest', description: 'Asks how a request stands (spec "TxnStatusRequest").' },
)
export type TxnStatusRequest = Static<typeof TxnStatusRequest>

/** The schema for a received status request. Some systems leave txn_type out, and mean a search. */
export const IncomingTxnStatusRequest = Type.Object({
  transaction_id: TransactionId,
  txnstatus_request: Type.Object({ ...TxnStatusQuestion.properties, txn_type: Type.Optional(TxnType) }),
})

/**
 * The answer for txn_type receipt: the receipts of enrolment updates (N4). The public standard calls this answer
 * `ReceiptRequest`.
 */
export const ReceiptRequest = Type.Object(
  {
    transaction_id: TransactionId,
    receipt_information: Type.Object({ receipt_type: Type.Optional(Type.String()), beneficiaries: Type.Array(RegistryRecord) }),
  },
  { title: 'ReceiptRequest', description: 'Receipt of enrolment updates (G19).' },
)
export type ReceiptRequest = Static<typeof ReceiptRequest>

export const TxnStatusResponse = Type.Object(
  {
    transaction_id: TransactionId,
    correlation_id: CorrelationId,
    txnstatus_response: Type.Object({
      txn_type: TxnType,
      txn_status: Type.Union(
        [SearchResponse, SubscribeResponse, UnSubscribeResponse, EnrollmentUpdatesResponse, ReceiptRequest],
        { description: 'The original response message; exactly one of the five (3.2, rule 7).' },
      ),
    }),
  },
  { title: 'TxnStatusResponse', description: 'Embeds the original response message (spec "TxnStatusResponse").' },
)
export type TxnStatusResponse = Static<typeof TxnStatusResponse>
