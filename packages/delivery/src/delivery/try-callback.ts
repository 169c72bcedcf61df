/** A round trip to a participant's callback address, step by step, for an operator before real messages are sent. */

import { randomUUID } from 'node:crypto'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { ownTraceparent } from '@rollcall/core/model/traceparent'
import type { Callbacks } from '@rollcall/participants/directory/directory'
import type { Guards } from '@rollcall/participants/egress/address-guard'
import {
  AddressRefused,
  addressAdvice,
  CredentialsUnusable,
  RequestFailed,
} from '@rollcall/participants/egress/problems'
import { PROTOCOL_VERSION, RequestFault } from '@rollcall/protocol'
import { type Attempting, attempt, type FinishedAttempt } from './attempt.ts'
import { callbackNamed, callbackTarget } from './targets.ts'

export interface Step {
  readonly step: 'address' | 'network' | 'credentials' | 'tls' | 'answer'
  readonly ok: boolean
  /** In plain words. */
  readonly told: string
}

export interface Tried {
  /** The address that was called, or would have been. */
  readonly target: string | null
  readonly message_id: string
  /** The steps up to the first failed one. */
  readonly steps: readonly Step[]
  /** The peer was reached and answered as a peer does. */
  readonly ok: boolean
  /** HTTP status; null without an answer. */
  readonly status: number | null
  /** At most 256 printable characters. */
  readonly answer: string
}

/**
 * Sends an answer that answers nothing: an on-search without items, for a transaction and a correlation_id that
 * nobody has heard of. A peer acknowledges it, or says in an ack what is wrong with it; nothing of it is persisted here.
 * @param sender_uri an address in place of the participant's own
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the steps of one trial, in order
export async function tryCallback(
  deps: Attempting & { readonly callbacks: Callbacks; readonly guards: Guards },
  participant: Participant,
  registry: Registry,
  sender_uri: string | null,
): Promise<Tried> {
  const steps: Step[] = []
  const correlation_id = randomUUID()
  const message_id = randomUUID()
  let target: string | null = null
  const over = (finished?: FinishedAttempt): Tried => ({
    target,
    message_id,
    steps,
    ok: steps.every(({ ok }) => ok),
    status: finished?.result.status ?? null,
    answer: finished?.answer ?? '',
  })
  const step = (name: Step['step'], ok: boolean, told: string): boolean => {
    steps.push({ step: name, ok, told })
    return ok
  }

  const callback = callbackNamed('on-search')
  const settings = await deps.callbacks.of(participant)
  try {
    target = callbackTarget(settings, sender_uri, callback)
  } catch (error) {
    if (!(error instanceof RequestFault)) throw error
    step('address', false, error.message)
    return over()
  }
  if (target === null) {
    step('address', false, 'there is no address: set a default address, or allow one and name it in this test')
    return over()
  }
  step('address', true, `${target} is registered`)

  const reachable = await check(() => deps.guards.of(participant).check(target ?? ''))
  if (!step('network', reachable === null, reachable ?? 'requests may go there, and its name resolves')) {
    return over()
  }

  const found = await deps.credentials.find(participant, settings, target, settings.timeout_ms).catch(said)
  if (typeof found === 'string') {
    step('credentials', false, found)
    return over()
  }
  const unsent = settings.auth === 'none' ? 'none are set' : 'they are for another origin and stay here'
  step('credentials', true, found.sent ? `${settings.auth}: they are sent` : unsent)

  const header = {
    version: PROTOCOL_VERSION,
    message_id,
    message_ts: new Date().toISOString(),
    action: callback.action,
    status: 'succ',
    total_count: 0,
    completed_count: 0,
    sender_id: registry.sender_id,
    receiver_id: participant.sender_id,
    meta: {},
  }
  const message = { transaction_id: `test-${message_id}`, correlation_id, search_response: [] }
  const encrypted = participant.encryption_policy === 'required'
  const to = { participant, registry, settings, target, encrypted, traceparent: ownTraceparent(correlation_id) }
  const finished = await attempt(deps, { ...to, header, message })
  tellTls(target, finished, step)
  const { result, detail, duration_ms } = finished
  const answered =
    result.status === null
      ? `no answer (${[result.name, detail].filter(Boolean).join(', ')})`
      : `status ${result.status}`
  step(
    'answer',
    ['delivered', 'refused'].includes(result.verdict),
    `${answered} after ${duration_ms} ms${MEANING[result.verdict]}`,
  )
  return over(finished)
}

const MEANING = {
  delivered: ': it would count as delivered',
  refused: ', an ack ERR: the peer was reached and refuses the message, as it may with one that answers nothing',
  dead: ': it would not be attempted again',
  retry: ': it would be attempted again',
} as const satisfies Record<FinishedAttempt['result']['verdict'], string>

/** Codes of Node.js for a certificate or a handshake that is not good. */
const TLS_TROUBLE = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/

function tellTls(
  target: string,
  { result, detail }: FinishedAttempt,
  step: (name: 'tls', ok: boolean, told: string) => boolean,
): void {
  if (target.startsWith('http:')) step('tls', true, 'not used: the operator allows plain HTTP to this host')
  else if (detail !== null && TLS_TROUBLE.test(detail)) step('tls', false, `the handshake failed (${detail})`)
  else if (result.status !== null) step('tls', true, 'the certificate is that of the host, and trusted')
}

async function check(work: () => Promise<void>): Promise<string | null> {
  try {
    await work()
    return null
  } catch (error) {
    return said(error)
  }
}

function said(error: unknown): string {
  if (error instanceof AddressRefused) return addressAdvice(error)
  if (error instanceof RequestFailed || error instanceof CredentialsUnusable) {
    return error.detail === null ? error.message : `${error.message} (${error.detail})`
  }
  throw error
}
