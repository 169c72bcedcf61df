/** Answers questions when the receiver's own system is an employment support system (spec "Purpose" 6, N10). */
import {
  actionMeans,
  type CallbackHeader,
  IncomingHeader,
  type JsonObject,
  type Operation,
  operation,
  PROTOCOL_VERSION,
  prepareEnvelope,
  RequestFault,
  type Signer,
  signedBody,
  tolerateMessage,
  type Validator,
  validator,
} from '@rollcall/protocol'
import type { Messages } from '../client/messages.ts'
import { badRequest, type OpenedMessage, type ParsedEnvelope, type PeerTrustSettings } from '../trust/open.ts'
import type { ReceivedHeader } from './callbacks.ts'
import { checkTotalCount } from './read-callback.ts'

/** The operations that an employment support system answers synchronously. */
export const QUESTION_NAMES = ['search', 'txn-status', 'enrolment-status'] as const
export type QuestionName = (typeof QUESTION_NAMES)[number]

/** A question that was verified, decrypted and checked. */
export interface Question<Name extends QuestionName = QuestionName> {
  readonly name: Name
  readonly header: ReceivedHeader
  readonly message: Messages[Name]['request']
  /** True when a signature was verified. False is possible only when the peer's policy allows it. */
  readonly signed: boolean
  readonly encrypted: boolean
}

/** The message of an answer, without the two ids that the receiver adds. */
export type AnswerContent<Name extends QuestionName> = Omit<Messages[Name]['response'], 'transaction_id' | 'correlation_id'>

/** The function of an application that answers one question. */
export type AnswerHandler<Name extends QuestionName> = (
  question: Question<Name>,
) => AnswerContent<Name> | Promise<AnswerContent<Name>>

/**
 * Handlers by operation. A handler may throw a RequestFault. Any other error asks the peer to send the question again
 * later. A repeated question is answered again.
 */
export type AnswerHandlers = { readonly [Name in QuestionName]?: AnswerHandler<Name> }

/** The operation whose question comes at a path, below any mount point; null for none, or one without a handler. */
export function questionAt(path: string, answers: AnswerHandlers): Operation | null {
  const rows = QUESTION_NAMES.filter((name) => answers[name] !== undefined).map(operation)
  const ends = (row: Operation): boolean => row.sync_paths.some((own) => path.endsWith(own.slice(own.indexOf('/'))))
  return rows.find(ends) ?? null
}

const questionHeaderValidator = validator<ReceivedHeader>(IncomingHeader)
const requestValidators = new Map<string, Validator>()
const answerValidators = new Map<string, Validator>()

/** Checks a question. @throws RequestFault err.request.bad, with the member and the rule */
export function readQuestion(
  row: Operation,
  { header }: ParsedEnvelope,
  opened: OpenedMessage | undefined,
  signed: boolean,
): Question {
  if (!actionMeans(row, String(header.action))) {
    throw badRequest(`header.action: must be ${row.action} on this path`)
  }
  if (opened === undefined) throw badRequest('message: is required')
  const tolerated = tolerateMessage(row, opened.message) as JsonObject
  const message = rememberedValidator(requestValidators, row.name, row.request.incoming).checked(tolerated, 'message', badRequest)
  checkTotalCount(row.request, header, tolerated)
  return {
    name: row.name as QuestionName,
    header: questionHeaderValidator.checked(header, 'header', badRequest),
    // The name of a question decides the type of its message.
    message: message as Question['message'],
    signed,
    encrypted: opened.encrypted,
  }
}

/** The handlers and the signer of the receiver, and the trust in the peer that asks. */
export interface AnswerDeps {
  readonly answers: AnswerHandlers
  /** Our own sender_id. */
  readonly sender_id: string
  readonly signer: Signer
  readonly trust: PeerTrustSettings
}

/** The answer to a question. The envelope is signed, and encrypted if the question was. */
export async function answerQuestion({ answers, sender_id, signer, trust }: AnswerDeps, question: Question): Promise<Response> {
  const row = operation(question.name)
  const key = question.encrypted ? await trust.keys.encryption() : null
  if (question.encrypted && key === null) {
    // Without a key the answer would have to be sent unencrypted, so the handler is not called.
    throw new RequestFault('err.encryption.invalid', 'the sender publishes no key to encrypt the answer with')
  }
  const handler = answers[question.name] as ((question: Question) => Promise<object>) | undefined
  const message = {
    ...(await handler?.(question)),
    transaction_id: question.message.transaction_id,
    correlation_id: crypto.randomUUID(),
  }
  const problem = rememberedValidator(answerValidators, row.name, row.reply.schema).problem(message, 'message')
  if (problem !== null) throw new TypeError(`the handler of ${row.name} returned an invalid answer: ${problem}`)
  const header = {
    ...replyHeader(row, message),
    sender_id,
    ...(question.header.sender_id !== undefined && { receiver_id: question.header.sender_id }),
  }
  const body = await signedBody(await prepareEnvelope({ header, message }, key), signer, Date.now())
  return new Response(body, { headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' } })
}

function replyHeader(row: Operation, message: object): CallbackHeader {
  const items = row.reply.items === null ? null : Object.entries(message).find(([name]) => name === row.reply.items)?.[1]
  const list: readonly { readonly status?: string }[] = Array.isArray(items) ? items : [{}]
  const isRejected = list.length > 0 && list.every(({ status }) => status === 'rjct')
  return {
    version: PROTOCOL_VERSION,
    message_id: crypto.randomUUID(),
    message_ts: new Date().toISOString(),
    action: row.reply_action,
    status: isRejected ? 'rjct' : 'succ',
    total_count: list.length,
    completed_count: list.length,
  }
}

function rememberedValidator(made: Map<string, Validator>, name: string, schema: Parameters<typeof validator>[0]): Validator {
  const found = made.get(name) ?? validator(schema)
  made.set(name, found)
  return found
}
