/** The results of attempts: what each result means for the delivery, the breaker and the metrics. */

import { isUnavailable } from '@rollcall/database/database-errors'
import { BodyUnreadable } from '@rollcall/keys/bodies'
import type { GuardedAnswer } from '@rollcall/participants/egress/guarded-request'
import { AddressRefused, CredentialsUnusable, RequestFailed } from '@rollcall/participants/egress/problems'
import { isJsonObject, JsonError, type JsonValue, parseJson, RequestFault } from '@rollcall/protocol'

/** The state in which a delivery ends after an attempt; `retry`: it does not end, and is attempted again. */
export type AttemptVerdict = 'delivered' | 'refused' | 'dead' | 'retry'

export interface AttemptResult {
  /** The name of the result in records and metrics: one of a fixed list, never a text of the peer. */
  readonly name: string
  readonly verdict: AttemptVerdict
  /** The verdict for an envelope of notifications, if it differs: later envelopes of the mailbox would fail in the same way. */
  readonly notification?: AttemptVerdict
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null
  /** The health of the peer; `unknown` when the reason is ours, or the peer was not called. */
  readonly peer: 'up' | 'down' | 'unknown'
}

/** Results of attempts that ended without an answer for reasons of ours. `resultOfError` makes further results. */
export const unsentResults = {
  /** Neither the answered request nor the participant's settings name an address. */
  no_address: unsentResult('no_address', 'dead', 'retry'),
  address_not_registered: unsentResult('address_not_registered', 'dead', 'retry'),
  /** The stored body of the delivery cannot be decrypted any more: the key of its day was destroyed. */
  body_forgotten: unsentResult('body_forgotten', 'dead'),
  body_altered: unsentResult('body_altered', 'dead'),
  /** The present grant does not permit the delivery, or not with these contents. The receiver may ask again. */
  not_permitted: unsentResult('not_permitted', 'dead'),
  /** We know no encryption key of the peer now, and do not send the message in clear. */
  no_encryption_key: unsentResult('no_encryption_key', 'retry'),
  /** An error of this server other than those above; its log has the error. */
  internal: unsentResult('internal', 'retry'),
} as const satisfies Record<string, AttemptResult>

function unsentResult(name: string, verdict: AttemptVerdict, notification = verdict): AttemptResult {
  return { name, verdict, notification, status: null, peer: 'unknown' }
}

/**
 * The statuses that the same request would get again. All other failures may end by themselves: partners deploy, renew their
 * credentials, and move behind redirects, which are not followed.
 */
const PERMANENT_STATUSES: ReadonlySet<number> = new Set([400, 405, 410, 411, 413, 414, 415, 422, 431, 501, 505])
/** The statuses of failure whose body may be an ack that says why the message is refused. */
const FAILURE_STATUSES_WITH_ACK: ReadonlySet<number> = new Set([400, 422])

/**
 * The result of an attempt that was answered. With an ack ERR the peer refuses the message, which is then not sent again (public
 * standard 3.3).
 */
export function resultOfAnswer({ status, body }: GuardedAnswer): AttemptResult {
  const isSuccess = status >= 200 && status <= 299
  if ((isSuccess || FAILURE_STATUSES_WITH_ACK.has(status)) && isErrorAck(body)) {
    return { name: 'ack_err', verdict: 'refused', status, peer: 'up' }
  }
  if (isSuccess) return { name: 'delivered', verdict: 'delivered', status, peer: 'up' }
  if (PERMANENT_STATUSES.has(status)) return { name: 'http_permanent', verdict: 'dead', status, peer: 'up' }
  const name = status < 400 ? 'http_redirect' : status < 500 ? 'http_4xx' : 'http_5xx'
  return { name, verdict: 'retry', status, peer: 'down' }
}

/**
 * The result of an attempt that was not answered.
 * @throws the error when the database is unavailable, because that is no failure of the attempt
 */
export function resultOfError(error: unknown): AttemptResult {
  if (error instanceof AddressRefused) return unsentResult(`address_${error.rule}`, 'dead', 'retry')
  if (error instanceof RequestFailed) return { name: error.failure, verdict: 'retry', status: null, peer: 'down' }
  if (error instanceof CredentialsUnusable) {
    return { name: `credentials_${error.why}`, verdict: 'retry', status: null, peer: 'unknown' }
  }
  if (error instanceof RequestFault && error.code === 'err.encryption.invalid') return unsentResults.no_encryption_key
  if (error instanceof RequestFault && error.code === 'err.sender_uri.invalid') return unsentResults.address_not_registered
  if (error instanceof BodyUnreadable) return unsentResults[`body_${error.reason}`]
  if (isUnavailable(error)) throw error
  return unsentResults.internal
}

function isErrorAck(body: Uint8Array): boolean {
  const answer = readAnswerJson(body)
  if (!isJsonObject(answer)) return false
  const ack = isJsonObject(answer.message) ? answer.message : answer
  return ack.ack_status === 'ERR'
}

function readAnswerJson(body: Uint8Array): JsonValue {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (error) {
    if (error instanceof JsonError || error instanceof TypeError) return null
    throw error
  }
}
