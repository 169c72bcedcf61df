/** Makes one attempt to send an envelope: encrypts it if `encrypted` is true, signs it anew, and sends it with credentials. */

import type { Clock } from '@rollcall/base/shared/clock'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import type { Log } from '@rollcall/observe/log'
import type { Metrics } from '@rollcall/observe/metrics'
import { CredentialsUnusable, RequestFailed } from '@rollcall/participants/egress/problems'
import type { CallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { encryptAndSignEnvelope, type SignDeps } from '@rollcall/participants/trust/messages'
import type { CanonicalText } from '@rollcall/protocol'
import packageJson from '../../package.json' with { type: 'json' }
import type { Credentials } from './credentials.ts'
import { type AttemptResult, resultOfAnswer, resultOfError, unsentResults } from './failures.ts'
import { readRetryAfter } from './schedule.ts'

/** The dependencies of one attempt to send an envelope. */
export interface AttemptDeps extends SignDeps {
  readonly clock: Pick<Clock, 'now' | 'date'>
  readonly credentials: Credentials
  readonly log: Log
  readonly metrics: Pick<Metrics, 'deliveryAttempted'>
}

/** The envelope to send, with its receiver and its sender. */
export interface EnvelopeToSend {
  readonly participant: Participant
  readonly registry: Registry
  readonly settings: CallbackSettings
  /** The address to call, which was found to be allowed for the participant. */
  readonly target: string
  readonly encrypted: boolean
  /** The header without is_msg_encrypted, which the attempt adds. */
  readonly header: object
  readonly message: object | CanonicalText
  /** The traceparent of the answered request, or one that we have made. */
  readonly traceparent: string
}

/** A finished attempt: when it was made, how long it took, its result (`AttemptResult`), and what the peer answered. */
export interface AttemptReport {
  readonly at: Date
  readonly duration_ms: number
  readonly result: AttemptResult
  /** The seconds that the peer asks us to wait before the next attempt; 0 when it asks for nothing. */
  readonly retry_after: number
  /** The beginning of the peer's answer: at most `MOST_ANSWER_CHARACTERS` printable characters; '' without answer or body. */
  readonly answer: string
  /** The cause of a failure without an answer, such as `ECONNREFUSED`, or `status 400` of a token endpoint; null: not known. */
  readonly detail: string | null
}

/** The most bytes of the body of a peer's answer that are read. */
const MOST_ANSWER_BYTES = 65_536
/** The most characters of a peer's answer that are stored. */
const MOST_ANSWER_CHARACTERS = 256

const USER_AGENT = `rollcall/${packageJson.version}`

/**
 * Signs an envelope with the present key, sends it at most once, and returns the result, whatever the peer does.
 * @throws the error of an unavailable database
 */
export async function postEnvelope(deps: AttemptDeps, outgoing: EnvelopeToSend): Promise<AttemptReport> {
  const { clock } = deps
  const at = new Date(clock.date())
  const began = clock.now()
  const finished = (
    result: AttemptResult,
    { retry_after = 0, answer = '', detail = null }: Partial<AttemptReport> = {},
  ): AttemptReport => {
    const duration_ms = Math.round(clock.now() - began)
    deps.metrics.deliveryAttempted(result.name, duration_ms / 1_000)
    return { at, duration_ms, result, retry_after, answer, detail }
  }
  try {
    const { participant, registry, settings, target, encrypted, header, message } = outgoing
    const { text: body } = await encryptAndSignEnvelope(deps, registry, participant, { header, message }, encrypted)
    const left = () => Math.max(1, Math.ceil(settings.timeout_ms - (clock.now() - began)))
    const credentials = await deps.credentials.find(participant, settings, target, left())
    const answer = await credentials.guard.request(target, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'user-agent': USER_AGENT,
        traceparent: outgoing.traceparent,
        ...credentials.headers,
      },
      body,
      timeoutMs: left(),
      maxBytes: MOST_ANSWER_BYTES,
      beyond: 'cut',
    })
    if (answer.status === 401) credentials.refused()
    const retry_after = readRetryAfter(answer.headers['retry-after'], clock.date())
    return finished(resultOfAnswer(answer), { retry_after, answer: printableAnswer(answer.body) })
  } catch (error) {
    return finished(resultOfFailure(deps, error), { detail: findErrorDetail(error) })
  }
}

/** The result of an attempt that has failed. Logs an internal failure for the operator, without the text of the error. */
export function resultOfFailure({ log }: Pick<AttemptDeps, 'log'>, error: unknown): AttemptResult {
  const result = resultOfError(error)
  if (result === unsentResults.internal)
    log.error(safeDatabaseError(error), 'a delivery could not be attempted; tried again later')
  return result
}

const findErrorDetail = (error: unknown): string | null =>
  error instanceof RequestFailed || error instanceof CredentialsUnusable ? error.detail : null

/** Turns the beginning of a peer's answer into printable ASCII; a byte that is not printable becomes a dot. */
export function printableAnswer(body: Uint8Array): string {
  return Buffer.from(body.subarray(0, MOST_ANSWER_CHARACTERS))
    .toString('latin1')
    .replaceAll(/[^ -~]/g, '.')
}
