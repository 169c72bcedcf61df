/** The messages of notifications, which a registry sends. Spec "NotifyEventRequest", "Events". */
import Type, { type Static, type TSchema } from 'typebox'
import {
  Locale,
  oneOf,
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
  { title: 'NotifyData', description: 'One record object per item, not an array (spec "NotifyEventRequest", D6).' },
)
export type NotifyData = Static<typeof NotifyData>

export const NotifyEvent = Type.Object(
  { reference_id: ReferenceId, timestamp: Timestamp, data: NotifyData, locale: Type.Optional(Locale) },
  { title: 'NotifyEvent', description: 'One event (spec "NotifyEventRequest").' },
)
export type NotifyEvent = Static<typeof NotifyEvent>

export const NotifyEventRequest = Type.Object(
  { transaction_id: TransactionId, notify_event: Type.Array(NotifyEvent) },
  { title: 'NotifyEventRequest', description: 'A batch of events (spec "NotifyEventRequest").' },
)
export type NotifyEventRequest = Static<typeof NotifyEventRequest>

/**
 * The schema for a received notification. Some senders put several records into one event; each record is then read as an event
 * of its own.
 */
export const IncomingNotifyEventRequest = Type.Object({
  transaction_id: TransactionId,
  notify_event: Type.Array(
    Type.Object({
      ...NotifyEvent.properties,
      data: Type.Object({ ...NotifyData.properties, reg_records: Type.Union([RegistryRecord, Type.Array(RegistryRecord)]) }),
    }),
  ),
})
export type IncomingNotifyEventRequest = Static<typeof IncomingNotifyEventRequest>

const mapByReferenceIdSchema = <Value extends TSchema>(value: Value, description: string) =>
  Type.Record(Type.String(), value, { description })

/**
 * What `header.meta` says about a notification and its items, such as versions and times. Members about items are objects with
 * the reference_id of each item as key. The protocol does not define these members.
 */
export const NotifyMeta = Type.Object(
  {
    subscriptions: mapByReferenceIdSchema(Type.Array(Type.String()), 'Codes of the subscriptions that caused the item.'),
    presence: mapByReferenceIdSchema(
      Type.Record(Type.String(), oneOf(['entered', 'stayed', 'left'])),
      'By code: whether the record fulfils the filter since the change, before and after it, or no more.',
    ),
    record_version: mapByReferenceIdSchema(
      Type.Integer({ minimum: 0 }),
      'Grows with each change of a record; of two items of one event type the lower one is older. 0: not known.',
    ),
    occurred_at: mapByReferenceIdSchema(Timestamp, 'When it happened, as the registry system says.'),
    recorded_at: mapByReferenceIdSchema(Timestamp, 'When the registry recorded it.'),
    corrects: Type.Optional(
      mapByReferenceIdSchema(Type.String(), 'The reference_id of the earlier item that this one takes back.'),
    ),
    replaced_by: Type.Optional(
      mapByReferenceIdSchema(
        Type.Object({ identifier_type: Type.String(), identifier_value: Type.String() }),
        'The record of the item was merged into another one, which has this primary identifier.',
      ),
    ),
    mailbox: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 99,
        description: 'In which the numbers of `sequence` are counted. Several mailboxes may have one address.',
      }),
    ),
    sequence: Type.Integer({ minimum: 1, description: 'Of the envelope in its mailbox, without gaps.' }),
    test: Type.Optional(Type.Literal(true, { description: 'The operator tries it out: nothing happened.' })),
    backfill: Type.Optional(Type.Literal(true, { description: 'Records that match already: the operator asked for them.' })),
  },
  { title: 'NotifyMeta', description: 'What the header of a notification says in meta.' },
)
export type NotifyMeta = Static<typeof NotifyMeta>
