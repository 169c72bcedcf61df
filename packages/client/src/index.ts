/** The public exports of the client package: it asks registries, receives their callbacks, and answers questions of peers. */

// Types of records, and errors of the protocol package
export type {
  Address,
  Beneficiary,
  DisabledPerson,
  EmploymentMember,
  Enrolment,
  Farmer,
  Group,
  Identifier,
  Member,
  Name,
  Person,
  Place,
  RecordsByKind,
} from '@rollcall/protocol'
export { RequestFault, type SignaturePolicy } from '@rollcall/protocol'
export type {
  DisabilityQuestion,
  EnrolmentQuestion,
  EnrolmentUpdate,
  UpdateOptions,
} from './client/enrolment.ts'
export type {
  OneOrMore,
  SearchInput,
  StatusQuestion,
  SubscribeInput,
} from './client/inputs.ts'
export type {
  Accepted,
  Answer,
  CallbackOptions,
  Content,
  Messages,
  OperationName,
  RequestOptions,
} from './client/messages.ts'
export type { Outgoing } from './client/outgoing.ts'
export type { Paths } from './client/paths.ts'
export type { AskedRecord, Found, KindName, RecordOf, RegistryRecord } from './client/records.ts'
// The client that asks registries
export { RegistryClient } from './client/registry-client.ts'
export { type ItemOf, type ItemResult, itemsOrThrow, resultsOf } from './client/results.ts'
export {
  type ClientOptions,
  callbacksAt,
  type Encryption,
  type OfKind,
  type PeerTrust,
} from './client/settings.ts'
// Functions that make consents
export { assertedConsent, signedConsent, type UnderConsent } from './consents.ts'
// Errors of requests
export {
  AckError,
  HeaderRejected,
  ItemRejected,
  type PeerFault,
  SeveralRecords,
  TokenRefused,
  TransportError,
  type TransportReason,
  UntrustedAnswer,
} from './errors.ts'
export type { Fetch } from './http/fetch.ts'
export type { Retry } from './http/retry.ts'
export type { ClientCredentials, GiveToken } from './http/tokens.ts'
// Functions that make queries
export {
  both,
  butNot,
  type Condition,
  type Conditions,
  compare,
  type ExpressionValue,
  either,
  expression,
  expressionList,
  graphql,
  identifier,
  type QueryCriteria,
} from './queries.ts'
// The receiver of callbacks and questions
export type {
  AwaitOptions,
  CallbackMessages,
  CallbackName,
  Handler,
  Handlers,
  Received,
  ReceivedHeader,
  Rejected,
  ReplyCallback,
  ReplyName,
} from './receiver/callbacks.ts'
export {
  HIGH_WATER_MARKS_TABLE,
  type HighWaterMarks,
  marksInMemory,
  marksInSql,
  type SqlMarks,
} from './receiver/high-water-marks.ts'
export type { MailboxLimits } from './receiver/mailbox.ts'
export { notifyMeta, type SequenceGap } from './receiver/notifications.ts'
export {
  type CheckedEnrolment,
  ENROLMENT_LABELS,
  type EnrolmentLabel,
  onCheckEnrolment,
} from './receiver/on-check-enrolment.ts'
export {
  type EventContext,
  type EventHandler,
  type EventHandlers,
  type EventName,
  onEvent,
  type Presence,
} from './receiver/on-event.ts'
export type {
  AnswerContent,
  AnswerHandler,
  AnswerHandlers,
  Question,
  QuestionName,
} from './receiver/questions.ts'
export {
  type Query,
  RECEIVED_MESSAGES_TABLE,
  rememberInSql,
  type SqlMemory,
} from './receiver/received-in-sql.ts'
export {
  type Claim,
  type MemoryLimits,
  type MessageKey,
  type ReceivedMessages,
  rememberInMemory,
} from './receiver/received-messages.ts'
export { type Peer, Receiver, type ReceiverOptions } from './receiver/receiver.ts'
export type { Signing } from './trust/own-keys.ts'
export type { JwkSet } from './trust/peer-keys.ts'
