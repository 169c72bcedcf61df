/** The exports of the protocol package, for all other packages. */

// Functions that read records
export type { AttributeScalar, AttributeValue } from './attributes/attribute-types.ts'
export { compareCodePoints } from './attributes/code-points.ts'
export {
  type DayInterval,
  dayInterval,
  type InstantInterval,
  instantInterval,
} from './attributes/dates.ts'
export { dayIn, isTimeZone } from './attributes/day-in.ts'
export {
  heldAt,
  heldElements,
  heldIdentifiers,
  heldMember,
  heldMemberValues,
  heldValue,
} from './attributes/held.ts'
export { identifiersWithin, isOfAnother } from './attributes/identifiers-within.ts'
export { elementKeys, keyedListAt, keysInList } from './attributes/keyed-lists.ts'
export { notifiedRecord } from './attributes/notified-record.ts'
export { type ReadingNotes, readAttribute } from './attributes/read-attribute.ts'
export { type Element, readElements } from './attributes/read-elements.ts'
export {
  formProblem,
  identifierTypeOf,
  identifierValue,
  type RecordIdentifier,
  readIdentifiers,
  type WrittenIdentifier,
  writtenIdentifiers,
} from './attributes/read-identifiers.ts'
export { readLiteral } from './attributes/read-literal.ts'
export { attributeRules, compoundRules, identifierRules } from './attributes/reading-rules.ts'
export { namesOf, otherKeys, searchKey } from './attributes/record-keys.ts'
export { memberNamed } from './attributes/walk.ts'
export {
  type OtherPerson,
  type TakesOut,
  withoutPersons,
} from './attributes/without-persons.ts'

// Codes of errors, and the faults that carry them
export {
  type AckCode,
  CODES,
  type CodePlace,
  type CodeRow,
  codesOf,
  type HeaderCode,
  httpStatusOf,
  type ItemCode,
  type SearchCode,
  type SubscribeCode,
  type UnsubscribeCode,
} from './codes.ts'
// Schemas of members that several messages have
export {
  CONSENT_TYPE,
  Consent,
  ConsentClaims,
  CorrelationId,
  INT32_MAX,
  isSpokenVersion,
  Locale,
  oneOf,
  PageRequest,
  Pagination,
  PROTOCOL_VERSION,
  REG_TYPE_PREFIX,
  ReferenceId,
  STATUSES,
  Status,
  Timestamp,
  TransactionId,
} from './common.ts'
// Deprecated parts of the interface, and envelopes
export { type Deprecation, deprecatedOperation, deprecationHeaders } from './deprecation.ts'
export {
  Ack,
  AckMessage,
  CallbackHeader,
  callbackEnvelope,
  EncryptedMessage,
  ErrorAnswer,
  Fault,
  FileInfo,
  HttpErrors,
  IncomingEnvelope,
  IncomingHeader,
  RequestHeader,
  requestEnvelope,
} from './envelope.ts'
export { HeaderRejection, ItemRejection, REASON_MAX_LENGTH, RequestFault, reasonText } from './faults.ts'
// The strict reader of JSON
export {
  DEFAULT_MAX_DEPTH,
  isJsonObject,
  type JsonBounds,
  type JsonBulk,
  type JsonObject,
  type JsonValue,
  jsonBeginningProblem,
  parseJson,
} from './json.ts'
export { JsonError, TooManyItems } from './json-error.ts'
// Kinds of registries
export { type AttributeAddition, additionProblem, extendKind } from './kinds/additions.ts'
export { isContact } from './kinds/contact.ts'
export type { EventCondition, EventRule, KeyedList, RuleList } from './kinds/event-rules.ts'
export {
  COMPARED_AS,
  type IdentifierAdditions,
  identifierTypeProblem,
  primaryProblem,
  sharedIdentifierType,
  withIdentifiers,
} from './kinds/identifier-additions.ts'
export { UNLISTED } from './kinds/identifier-types.ts'
export {
  isRegType,
  isSearchEventType,
  KINDS,
  kindNamed,
  recordTypesOf,
  resolveAttribute,
  resolveEventType,
  resolveIdentifierType,
  resolveRecordType,
} from './kinds/index.ts'
export {
  type Attribute,
  type AttributeType,
  type Compound,
  type CompoundMember,
  type EventType,
  type IdentifierSource,
  type IdentifierType,
  isSortedIdentifier,
  type Kind,
  type RecordType,
  type Relation,
  sortedIdentifiers,
} from './kinds/kind.ts'
export { IDENTIFIER_MAX_LENGTH, normaliseIdentifier } from './kinds/normalisers.ts'
export { anyIdentifierType, resolveSearchable, type Searchable, searchableNames } from './kinds/searchable.ts'
export { isOfForm } from './kinds/value-pattern.ts'
// Content types of bodies
export {
  ACCEPTED_TYPES,
  type AcceptedTypes,
  bodyTypeProblem,
  encodingProblem,
  mediaType,
} from './media-types.ts'
// Schemas of messages
export { DisabledRequest, DisabledResponse } from './messages/disability.ts'
export {
  EnrolledRequest,
  EnrolledResponse,
  EnrollmentUpdatesRequest,
  EnrollmentUpdatesResponse,
} from './messages/enrolment.ts'
export {
  type AskedAttributes,
  ENROLLED_ATTRIBUTES,
  readEqualsQuery,
} from './messages/equals-query.ts'
export {
  IncomingNotifyEventRequest,
  NotifyData,
  NotifyEvent,
  NotifyEventRequest,
  NotifyMeta,
} from './messages/notify.ts'
export {
  Comparison,
  ExpressionListElement,
  IdentifierQuery,
  OPERATORS,
  QUERY_TYPES,
  Query,
  QueryType,
  SortCriterion,
  TypedExpression,
} from './messages/query.ts'
export {
  IncomingSearchRequest,
  SearchCriteria,
  SearchData,
  SearchRequest,
  SearchRequestItem,
  SearchResponse,
  SearchResponseItem,
} from './messages/search.ts'
export {
  Frequency,
  IncomingSubscribeRequest,
  SubscribeCriteria,
  SubscribeRequest,
  SubscribeRequestItem,
  SubscribeResponse,
  SubscribeResponseItem,
  Subscription,
} from './messages/subscribe.ts'
export {
  ReceiptRequest,
  TxnStatusQuestion,
  TxnStatusRequest,
  TxnStatusResponse,
  TxnType,
} from './messages/txn-status.ts'
export {
  IncomingUnSubscribeRequest,
  UnSubscribeRequest,
  UnSubscribeResponse,
} from './messages/unsubscribe.ts'
export { exactNumber, NUMBER_RULE } from './numbers.ts'
// The table of operations, and their OpenAPI document
export { type OpenApiDocument, type OpenApiOptions, openApiDocument, type Way } from './openapi.ts'
export type { Callback, HeaderShape, ItemCodes, Message, Operation, Reply } from './operation.ts'
export { actionMeans, CALLBACKS, isKnownAction, OPERATIONS, operation, operationsOf } from './operations.ts'
export { type PathStep, pathText } from './paths.ts'
export { receivedSchema } from './received.ts'
export { CODE_LISTS, type CodeListName, codeLabel, normaliseCode } from './records/code-lists.ts'
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
} from './records/types.ts'
export { daysInMonth, isTimestamp, isWithinWindow, timestampInstant } from './timestamps.ts'
export { TOKEN_PATH, TokenAnswer, TokenError, TokenRequest } from './token.ts'
export { tolerateEnvelope, tolerateHeader, tolerateMessage, tolerateUnsignedAnswer } from './tolerance.ts'
export { CanonicalJsonError, CanonicalText, canonicalJson } from './trust/canonical-json.ts'
// Encryption of messages
export {
  ciphertextFingerprint,
  type ResolveKey,
} from './trust/encryption/encryption.ts'
export { isResultEncrypted } from './trust/encryption/form.ts'
export {
  type DecryptionKeys,
  decryptionKeys,
  type EncryptionKey,
  publicEncryptionKey,
} from './trust/encryption/keys.ts'
// Verification and decryption of received messages, and keys
export {
  CANNOT_BE_DECRYPTED,
  decryptionFault,
  encryptionFault,
  openMessage,
  SIGNATURE_RULES,
  type SignaturePolicy,
  verifyEnvelope,
} from './trust/incoming.ts'
export {
  algorithmOfJwk,
  importSigningKey,
  importVerifyingKey,
  isKid,
  isPrivateJwk,
  type Jwk,
  KeyRefused,
  type LooseJwk,
} from './trust/jwk.ts'
export {
  type Prepared,
  prepareEnvelope,
  replyAlgorithm,
  SIGNATURE_LIFETIME,
  type Signer,
  signedBody,
  signedEnvelope,
} from './trust/outgoing.ts'
export {
  encryptionKey,
  KEY_SET,
  KeySetProblem,
  type KeyUse,
  MOST_KEYS,
  type PublicKey,
  publicKeysOf,
  readKeySet,
  readPublicKey,
  signatureKeys,
  verifyingKey,
} from './trust/public-key.ts'
export { type Fetched, Refreshed } from './trust/refreshed.ts'
// Signatures of messages
export {
  ALGORITHMS,
  type Algorithm,
  type AlgorithmName,
  type WebCryptoKey,
} from './trust/signature/algorithms.ts'
export { CANONICAL_FORMS, type CanonicalFormName, receivedParts } from './trust/signature/canonical-forms.ts'
export { DIGESTS, type DigestPrefix } from './trust/signature/digests.ts'
export { checkFreshness } from './trust/signature/freshness.ts'
export { signatureWithoutPayload } from './trust/signature/jws.ts'
export {
  DEFAULT_SIGNATURE_PROFILE,
  type Layout,
  type LayoutName,
  type ReadSignature,
  type SignatureProfile,
} from './trust/signature/layout.ts'
export { LAYOUTS, profileProblem } from './trust/signature/layouts.ts'
export { qualifiedKid } from './trust/signature/parameters.ts'
export {
  isPlaceholder,
  PLACEHOLDERS,
  SignatureProblem,
} from './trust/signature/problem.ts'
export { type SigningKey, sign, signedContent } from './trust/signature/sign.ts'
export { readSignature, verifySignature } from './trust/signature/verify.ts'
export { type SignedEnvelope, SourcedEnvelope } from './trust/source.ts'
export { readTokenAnswer, TokenProblem } from './trust/token-answer.ts'
export { type Problem, type Validator, validator } from './validate.ts'
export { assumedUtc, type InUtc, inUtc } from './zoneless.ts'
