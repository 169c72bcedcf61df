/**
 * Tries a participant's callback address with one test message and reports each step, for an operator who wants to know whether
 * it works before real messages are sent.
 */

import { randomUUID } from 'node:crypto'
import { currentTimestamp } from '@rollcall/base/shared/clock'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { makeTraceparent } from '@rollcall/core/model/traceparent'
import type { CallbackSettingsReader } from '@rollcall/participants/directory/directory'
import type { ParticipantGuards } from '@rollcall/participants/egress/address-guard'
import { AddressRefused, addressAdvice, CredentialsUnusable, RequestFailed } from '@rollcall/participants/egress/problems'
import type { CallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { PROTOCOL_VERSION, RequestFault } from '@rollcall/protocol'
import { type AttemptDeps, type AttemptReport, type EnvelopeToSend, postEnvelope } from './attempt.ts'
import { callbackNamed, findCallbackTarget } from './targets.ts'

/** One step of trying a participant's callback address, with its result. */
export interface CallbackTryStep {
  readonly step: 'address' | 'network' | 'credentials' | 'tls' | 'answer'
  readonly ok: boolean
  /** The text about this step that the operator reads. */
  readonly told: string
}

/** The report of trying a participant's callback address. */
export interface CallbackTryReport {
  /** The address that was called, or would have been called; null when no allowed address was found. */
  readonly target: string | null
  readonly message_id: string
  /** The steps in order, up to the first one that failed. But an `answer` follows also a failed `tls`. */
  readonly steps: readonly CallbackTryStep[]
  /** True when no step failed: the peer answered with a status from 200 to 299 or with an ack ERR, which is a success here. */
  readonly ok: boolean
  /** The HTTP status of the peer's answer; null when there was no answer. */
  readonly status: number | null
  /** The beginning of the peer's answer: at most 256 printable characters. */
  readonly answer: string
}

type TryCallbackDeps = AttemptDeps & { readonly callbacks: CallbackSettingsReader; readonly guards: ParticipantGuards }

/** Adds a step to the report of the try. Returns `ok`: whether the step succeeded. */
type AddReportStep = (step: CallbackTryStep['step'], ok: boolean, told: string) => boolean

const TEST_CALLBACK = callbackNamed('on-search')

/**
 * Sends a test message that answers no request: an on-search without items, under a transaction_id and a correlation_id that
 * nobody knows. A peer acknowledges it, or says in an ack what is wrong with it. Nothing of it is stored here.
 * @param sender_uri an allowed address to call; null for the participant's default address
 */
export async function tryCallback(
  deps: TryCallbackDeps,
  participant: Participant,
  registry: Registry,
  sender_uri: string | null,
): Promise<CallbackTryReport> {
  const steps: CallbackTryStep[] = []
  const message_id = randomUUID()
  const step: AddReportStep = (name, ok, told) => {
    steps.push({ step: name, ok, told })
    return ok
  }
  const settings = await deps.callbacks.of(participant)
  const target = findTargetAndAddStep(settings, sender_uri, step)
  const ready =
    target !== null &&
    (await checkAddressAndDns(deps, participant, target, step)) &&
    (await checkCredentials(deps, participant, settings, target, step))
  const finished = ready ? await sendTestEnvelope(deps, { participant, registry, settings, target }, message_id) : null
  if (ready && finished !== null) {
    addTlsStep(target, finished, step)
    addAnswerStep(finished, step)
  }
  return {
    target,
    message_id,
    steps,
    ok: steps.every(({ ok }) => ok),
    status: finished?.result.status ?? null,
    answer: finished?.answer ?? '',
  }
}

function findTargetAndAddStep(settings: CallbackSettings, sender_uri: string | null, step: AddReportStep): string | null {
  try {
    const target = findCallbackTarget(settings, sender_uri, TEST_CALLBACK)
    if (target !== null) step('address', true, `${target} is registered`)
    else step('address', false, 'there is no address: set a default address, or allow one and name it in this test')
    return target
  } catch (error) {
    if (!(error instanceof RequestFault)) throw error
    step('address', false, error.message)
    return null
  }
}

async function checkAddressAndDns({ guards }: TryCallbackDeps, participant: Participant, target: string, step: AddReportStep) {
  try {
    await guards.of(participant).check(target)
    return step('network', true, 'requests may go there, and its name resolves')
  } catch (error) {
    return step('network', false, reportTextOfError(error))
  }
}

async function checkCredentials(
  { credentials }: TryCallbackDeps,
  participant: Participant,
  settings: CallbackSettings,
  target: string,
  step: AddReportStep,
) {
  try {
    const { sent } = await credentials.find(participant, settings, target, settings.timeout_ms)
    const unsent = settings.auth === 'none' ? 'none are set' : 'they are for another origin and stay here'
    return step('credentials', true, sent ? `${settings.auth}: they are sent` : unsent)
  } catch (error) {
    return step('credentials', false, reportTextOfError(error))
  }
}

function sendTestEnvelope(
  deps: TryCallbackDeps,
  to: Pick<EnvelopeToSend, 'participant' | 'registry' | 'settings' | 'target'>,
  message_id: string,
): Promise<AttemptReport> {
  const { participant, registry } = to
  const correlation_id = randomUUID()
  const header = {
    version: PROTOCOL_VERSION,
    message_id,
    message_ts: currentTimestamp(deps.clock),
    action: TEST_CALLBACK.action,
    status: 'succ',
    total_count: 0,
    completed_count: 0,
    sender_id: registry.sender_id,
    receiver_id: participant.sender_id,
    meta: {},
  }
  const message = { transaction_id: `test-${message_id}`, correlation_id, search_response: [] }
  const encrypted = participant.encryption_policy === 'required'
  return postEnvelope(deps, { ...to, encrypted, traceparent: makeTraceparent(correlation_id), header, message })
}

function addAnswerStep({ result, detail, duration_ms }: AttemptReport, step: AddReportStep): void {
  const answered =
    result.status === null ? `no answer (${[result.name, detail].filter(Boolean).join(', ')})` : `status ${result.status}`
  const ok = ['delivered', 'refused'].includes(result.verdict)
  step('answer', ok, `${answered} after ${duration_ms} ms${ATTEMPT_VERDICT_TEXTS[result.verdict]}`)
}

const ATTEMPT_VERDICT_TEXTS = {
  delivered: ': it would count as delivered',
  refused: ', an ack ERR: the peer was reached and refuses the message, as it may with one that answers nothing',
  dead: ': it would not be attempted again',
  retry: ': it would be attempted again',
} as const satisfies Record<AttemptReport['result']['verdict'], string>

/** The codes of Node.js for a certificate or a TLS handshake that is not valid. */
const TLS_FAILURE_PATTERN = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/

function addTlsStep(target: string, { result, detail }: AttemptReport, step: AddReportStep): void {
  if (target.startsWith('http:')) step('tls', true, 'not used: the operator allows plain HTTP to this host')
  else if (detail !== null && TLS_FAILURE_PATTERN.test(detail)) step('tls', false, `the handshake failed (${detail})`)
  else if (result.status !== null) step('tls', true, 'the certificate is that of the host, and trusted')
}

/** The text for the report: an address was refused, a request failed, or credentials are unusable. @throws any other error */
function reportTextOfError(error: unknown): string {
  if (error instanceof AddressRefused) return addressAdvice(error)
  if (error instanceof RequestFailed || error instanceof CredentialsUnusable) {
    return error.detail === null ? error.message : `${error.message} (${error.detail})`
  }
  throw error
}
