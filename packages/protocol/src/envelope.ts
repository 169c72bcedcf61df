/**
 * The outer parts of messages: envelope, headers, encrypted message, acknowledgement and errors. Spec "Envelope", "Header"; N1.
 */
import Type, { type Static, type TSchema } from 'typebox'
import { codesOf } from './codes.ts'
import { CorrelationId, oneOf, Status, StatusReasonMessage, Timestamp, Version } from './common.ts'

const idSchema = (description: string) => Type.String({ minLength: 1, description })

const optionalHeaderMemberSchemas = {
  version: Type.Optional(Version),
  receiver_id: Type.Optional(idSchema('The system that the message is for.')),
  is_msg_encrypted: Type.Optional(Type.Boolean({ default: false, description: 'Whether message is an EncryptedMessage.' })),
  meta: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Free-form.' })),
}

const requiredHeaderMemberSchemas = {
  message_id: idSchema('Names the message; a retry keeps it.'),
  message_ts: Timestamp,
  action: Type.String({ minLength: 1, description: 'An action name of the operation (spec "Endpoints").' }),
}

const senderId = idSchema('The system that sends the message.')
const totalCount = Type.Integer({ minimum: 0, description: 'Items in the batch (N7).' })

export const RequestHeader = Type.Object(
  {
    ...requiredHeaderMemberSchemas,
    sender_id: senderId,
    total_count: totalCount,
    sender_uri: Type.Optional(Type.String({ format: 'uri', description: 'Full address to which the callback is sent (G1).' })),
    ...optionalHeaderMemberSchemas,
  },
  { title: 'RequestHeader', description: 'Header of a request (spec "Header"; required members N1).' },
)
export type RequestHeader = Static<typeof RequestHeader>

export const CallbackHeader = Type.Object(
  {
    ...requiredHeaderMemberSchemas,
    status: Status,
    status_reason_code: Type.Optional(oneOf(codesOf('header'), { description: 'Set with status rjct (N18).' })),
    status_reason_message: Type.Optional(StatusReasonMessage),
    total_count: Type.Optional(totalCount),
    completed_count: Type.Optional(Type.Integer({ minimum: 0, description: 'Items answered, with status succ or rjct (N7).' })),
    sender_id: Type.Optional(senderId),
    ...optionalHeaderMemberSchemas,
  },
  {
    title: 'CallbackHeader',
    description: 'Header of a callback and of a synchronous answer (spec "Header"; required members N1).',
  },
)
export type CallbackHeader = Static<typeof CallbackHeader>

/**
 * The schema for the header of a received request. The values of version, action, sender_uri and total_count are
 * checked later, with their own codes. `total_count` may be missing. Callback headers are accepted on request paths too,
 * so their members, such as `status`, are neither required nor refused.
 */
export const IncomingHeader = Type.Object({
  ...requiredHeaderMemberSchemas,
  ...optionalHeaderMemberSchemas,
  version: Type.Optional(Type.String()),
  sender_id: senderId,
  sender_uri: Type.Optional(Type.String()),
  total_count: Type.Optional(Type.Integer()),
})
export type IncomingHeader = Static<typeof IncomingHeader>

export const EncryptedMessage = Type.Object(
  {
    header: Type.Object({
      alg: Type.String({ description: 'How the content key is encrypted.' }),
      enc: Type.String({ description: 'How the content is encrypted.' }),
      kid: Type.String({ description: "The receiver's key." }),
      epk: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: "The sender's ephemeral public key as a JWK, where alg agrees on a key (RFC 7518, 4.6.1.1).",
        }),
      ),
    }),
    ciphertext: Type.String({ description: 'Base64url, encrypted plaintext.' }),
    encrypted_key: Type.String({ description: 'Base64url, encrypted content key.' }),
    tag: Type.String({ description: 'Base64url, integrity value.' }),
    iv: Type.String({ description: 'Base64url, initialization vector; its size depends on the algorithm.' }),
  },
  { title: 'EncryptedMessage', description: 'Stands in place of any message (spec "EncryptedMessage").' },
)
export type EncryptedMessage = Static<typeof EncryptedMessage>

export const Signature = Type.String({ description: 'Signature over header and message (spec "Authentication", 2).' })

/** The schema of a request's envelope: header and message are required (spec "Envelope"). */
export function requestEnvelope<Message extends TSchema>(message: Message, title: string) {
  return Type.Object(
    { signature: Type.Optional(Signature), header: RequestHeader, message: Type.Union([message, EncryptedMessage]) },
    { title, description: 'Envelope of a request (spec "Envelope").' },
  )
}

/** The schema of the envelope of a callback or synchronous answer: only the header is required (spec "Envelope"). */
export function callbackEnvelope<Message extends TSchema>(message: Message, title: string) {
  return Type.Object(
    {
      signature: Type.Optional(Signature),
      header: CallbackHeader,
      message: Type.Optional(Type.Union([message, EncryptedMessage])),
    },
    { title, description: 'Envelope of a callback or a synchronous answer (spec "Envelope").' },
  )
}

/** The schema of a received request's envelope, before its message is decrypted. */
export const IncomingEnvelope = Type.Object({
  signature: Type.Optional(Type.Unknown()),
  header: IncomingHeader,
  message: Type.Record(Type.String(), Type.Unknown()),
})
export type IncomingEnvelope = Static<typeof IncomingEnvelope>

export const AckStatus = oneOf(['ACK', 'NACK', 'ERR'], {
  description: 'ACK valid, a callback follows; NACK valid, nothing follows; ERR invalid, error says why (G3).',
})

/** The schema of `error` in an acknowledgement: the fault of a refused request. */
export const Fault = Type.Object(
  { code: oneOf(codesOf('ack'), { description: 'What was wrong (N19).' }), message: StatusReasonMessage },
  { title: 'Fault', description: 'Why a request was refused (N19).' },
)
export type Fault = Static<typeof Fault>

/** The `message` of an acknowledgement. */
export const AckMessage = Type.Object(
  { ack_status: AckStatus, timestamp: Timestamp, correlation_id: CorrelationId, error: Type.Optional(Fault) },
  { title: 'AckMessage', description: 'Acknowledgement (spec "Endpoints", responses 2; N11).' },
)
export type AckMessage = Static<typeof AckMessage>

export const Ack = Type.Object(
  { message: AckMessage },
  { title: 'Ack', description: 'The immediate answer of an asynchronous endpoint (N11).' },
)
export type Ack = Static<typeof Ack>

/** The body that the specification has for 401, 403 and 500 (spec "Errors", 1). */
export const HttpErrors = Type.Object(
  { errors: Type.Array(Fault) },
  { title: 'HttpErrors', description: 'Error body (spec "Errors", 1).' },
)
export type HttpErrors = Static<typeof HttpErrors>

/** The body that refuses a whole request: an acknowledgement with ERR, and `errors` beside it (D1, D2). */
export const ErrorAnswer = Type.Object(
  {
    message: Type.Object({ ...AckMessage.properties, ack_status: oneOf(['ERR']), error: Fault }),
    errors: Type.Array(Fault, { minItems: 1 }),
  },
  { title: 'ErrorAnswer', description: 'An ack ERR and the error body in one (spec "Errors", D2).' },
)
export type ErrorAnswer = Static<typeof ErrorAnswer>

/** The form fields of an upload on an asynchronous path (spec "Endpoints"; fields from N8). */
export const FileInfo = Type.Object(
  {
    action: Type.String({ description: "The path's action." }),
    fileFormat: Type.Optional(
      Type.String({
        default: 'json',
        description:
          'json: the file is signature, header and message. ndjson: one item a line. csv: identifier_type,identifier_value[,reference_id].',
      }),
    ),
    envelope: Type.Optional(
      Type.String({
        description:
          'For ndjson and csv: an envelope whose message holds transaction_id and file_sha256, the SHA-256 of the file in hexadecimal or base64url.',
      }),
    ),
    fileName: Type.String({
      format: 'binary',
      description: 'The file; the last part where it is longer than a plain body may be.',
    }),
  },
  { title: 'FileInfo', description: 'Parts of multipart/form-data (N8, D34).' },
)
export type FileInfo = Static<typeof FileInfo>
