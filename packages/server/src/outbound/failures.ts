/** How an attempt ended, asked once: retry, breaker, record and status all go by these rows. */
import { isJsonObject, JsonError, type JsonValue, parseJson, RequestFault } from '@rollcall/protocol'
import type { Answer } from './guarded-request.ts'
import { AddressRefused, RequestFailed } from './outbound-problems.ts'

/** What follows an attempt: `retry` counts against the peer's health, the others do not. */
export type Verdict = 'delivered' | 'refused' | 'dead' | 'retry'

export interface Ending {
  /** A class of endings, for records and metrics: bounded in number, never a text of the peer. */
  readonly name: string
  readonly verdict: Verdict
  /** Of HTTP; null where there was no answer. */
  readonly status: number | null
}

/**
 * Statuses that the same request would get again. Everything else that is no success may pass: partners deploy,
 * rotate their credentials, and move behind redirects, which are not followed.
 */
const PERMANENT: ReadonlySet<number> = new Set([400, 405, 410, 411, 413, 414, 415, 422, 431, 501, 505])
/** Statuses whose body may say, as an ack, why the message is refused. */
const REFUSING: ReadonlySet<number> = new Set([400, 422])

/** How an answer ends an attempt (3.3: an ack ERR is the peer's refusal, not to be repeated). */
export function endingOf({ status, body }: Answer): Ending {
  const isSuccess = status >= 200 && status <= 299
  if ((isSuccess || REFUSING.has(status)) && isRefusal(body))
    return { name: 'ack_err', verdict: 'refused', status }
  if (isSuccess) return { name: 'delivered', verdict: 'delivered', status }
  if (PERMANENT.has(status)) return { name: 'http_permanent', verdict: 'dead', status }
  return {
    name: status < 400 ? 'http_redirect' : status < 500 ? 'http_4xx' : 'http_5xx',
    verdict: 'retry',
    status,
  }
}

/** How an attempt ends that got no answer. Throws what is no trouble of an attempt: that is ours. */
export function endingOfError(error: unknown): Ending {
  if (error instanceof AddressRefused) return { name: `address_${error.rule}`, verdict: 'dead', status: null }
  if (error instanceof RequestFailed) return { name: error.failure, verdict: 'retry', status: null }
  // There is no key of the peer to encrypt with at the moment; nothing leaves in clear.
  if (error instanceof RequestFault && error.code === 'err.encryption.invalid') {
    return { name: 'no_encryption_key', verdict: 'retry', status: null }
  }
  throw error
}

function isRefusal(body: Uint8Array): boolean {
  const answer = readJson(body)
  if (!isJsonObject(answer)) return false
  const ack = isJsonObject(answer.message) ? answer.message : answer
  return ack.ack_status === 'ERR'
}

function readJson(body: Uint8Array): JsonValue {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (error) {
    if (error instanceof JsonError || error instanceof TypeError) return null
    throw error
  }
}
