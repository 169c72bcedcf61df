/** One attempt to send an envelope: signed and encrypted anew, with the participant's guard and credentials. */

import type { Clock } from '@rollcall/base/shared/clock'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import type { Log } from '@rollcall/observe/log'
import type { Metrics } from '@rollcall/observe/metrics'
import { CredentialsUnusable, RequestFailed } from '@rollcall/participants/egress/problems'
import type { CallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { type Signing, signEnvelope } from '@rollcall/participants/trust/messages'
import type { CanonicalText } from '@rollcall/protocol'
import packageJson from '../../package.json' with { type: 'json' }
import type { Credentials } from './credentials.ts'
import { type AttemptResult, resultOf, resultOfError, unsentResults } from './failures.ts'
import { readRetryAfter } from './schedule.ts'

/** The parts of the server that an attempt needs. */
export interface Attempting extends Signing {
  readonly clock: Pick<Clock, 'now' | 'date'>
  readonly credentials: Credentials
  readonly log: Log
  readonly metrics: Pick<Metrics, 'deliveryAttempted'>
}

/** The envelope of an attempt, with its receiver and its sender. */
export interface Outgoing {
  readonly participant: Participant
  readonly registry: Registry
  readonly settings: CallbackSettings
  /** An address that `callbackTarget` allows. */
  readonly target: string
  readonly encrypted: boolean
  /** The header without is_msg_encrypted. */
  readonly header: object
  readonly message: object | CanonicalText
  /** The traceparent of the request that it answers, or one of ours. */
  readonly traceparent: string
}

/** An attempt that is over. */
export interface FinishedAttempt {
  readonly at: Date
  readonly duration_ms: number
  readonly result: AttemptResult
  /** Seconds that the peer asks us to wait. */
  readonly retry_after: number
  /** At most `ANSWER_CHARACTERS` printable characters of the answer. */
  readonly answer: string
  /** For operators: the code of the system or library that says what went wrong. */
  readonly detail: string | null
}

/** Bytes of the answer's body that are read. */
const READ = 65_536
/** Characters of an answer that are stored. */
const ANSWER_CHARACTERS = 256

const USER_AGENT = `rollcall/${packageJson.version}`

/**
 * Makes one attempt. Whatever the peer does is a result; the signature uses the present key.
 * @throws an error that stops all attempts, such as an unavailable database
 */
export async function attempt(deps: Attempting, outgoing: Outgoing): Promise<FinishedAttempt> {
  const { clock } = deps
  const at = new Date(clock.date())
  const began = clock.now()
  const finished = (
    result: AttemptResult,
    { retry_after = 0, answer = '', detail = null }: Partial<FinishedAttempt> = {},
  ): FinishedAttempt => {
    const duration_ms = Math.round(clock.now() - began)
    deps.metrics.deliveryAttempted(result.name, duration_ms / 1_000)
    return { at, duration_ms, result, retry_after, answer, detail }
  }
  try {
    const { participant, registry, settings, target, encrypted, header, message } = outgoing
    const { text: body } = await signEnvelope(deps, registry, participant, { header, message }, encrypted)
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
      maxBytes: READ,
      beyond: 'cut',
    })
    if (answer.status === 401) credentials.refused()
    const retry_after = readRetryAfter(answer.headers['retry-after'], clock.date())
    return finished(resultOf(answer), { retry_after, answer: printable(answer.body) })
  } catch (error) {
    const result = resultOfError(error)
    if (result === unsentResults.internal) logInternal(deps, error)
    return finished(result, { detail: detailOf(error) })
  }
}

/** Logs an internal failure for the operator, without its text. */
export function logInternal({ log }: Pick<Attempting, 'log'>, error: unknown): void {
  log.error({ ...safeDatabaseError(error) }, 'a delivery could not be attempted; tried again later')
}

const detailOf = (error: unknown): string | null =>
  error instanceof RequestFailed || error instanceof CredentialsUnusable ? error.detail : null

/** The beginning of an answer as ASCII; every other byte is a dot. */
export function printable(body: Uint8Array): string {
  return Buffer.from(body.subarray(0, ANSWER_CHARACTERS))
    .toString('latin1')
    .replaceAll(/[^ -~]/g, '.')
}
