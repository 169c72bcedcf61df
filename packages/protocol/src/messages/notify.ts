/** Notify: events pushed by the registry. Spec "NotifyEventRequest", "Events". */
import Type, { type Static } from 'typebox'
import {
  Locale,
  ReferenceId,
  RegEventType,
  RegistryRecord,
  RegRecordType,
  RegType,
  Timestamp,
  TransactionId,
  Version,
} from '../common.ts'

export const NotifyData = Type.Object(
  {
    version: Type.Optional(Version),
    reg_type: Type.Optional(RegType),
    reg_event_type: Type.Optional(RegEventType),
    reg_record_type: RegRecordType,
    reg_records: RegistryRecord,
  },
  {
    title: 'NotifyData',
    description: 'One record object per item, not an array (spec "NotifyEventRequest", D6).',
  },
)
export type NotifyData = Static<typeof NotifyData>

export const NotifyEvent = Type.Object(
  {
    reference_id: ReferenceId,
    timestamp: Timestamp,
    data: NotifyData,
    locale: Type.Optional(Locale),
  },
  { title: 'NotifyEvent', description: 'One event (spec "NotifyEventRequest").' },
)
export type NotifyEvent = Static<typeof NotifyEvent>

export const NotifyEventRequest = Type.Object(
  { transaction_id: TransactionId, notify_event: Type.Array(NotifyEvent) },
  { title: 'NotifyEventRequest', description: 'A batch of events (spec "NotifyEventRequest").' },
)
export type NotifyEventRequest = Static<typeof NotifyEventRequest>

/** Generic senders put several records into one event; each is taken as one (3.1). */
export const IncomingNotifyEventRequest = Type.Object({
  transaction_id: TransactionId,
  notify_event: Type.Array(
    Type.Object({
      ...NotifyEvent.properties,
      data: Type.Object({
        ...NotifyData.properties,
        reg_records: Type.Union([RegistryRecord, Type.Array(RegistryRecord)]),
      }),
    }),
  ),
})
export type IncomingNotifyEventRequest = Static<typeof IncomingNotifyEventRequest>
