/** Decides, for all other files, who is calling, which registries the caller may use, and what it may do there. */

import type { Grant } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { may, NOTHING_GRANTED } from '@rollcall/core/policy/permission'
import type { Admission, Quota } from '@rollcall/participants/admission/quota'
import type { Grants } from '@rollcall/participants/directory/grants'
import type { IncomingRequest } from '@rollcall/participants/reading/body'
import { type Operation, RequestFault } from '@rollcall/protocol'
import { type Authenticating, authenticate } from './authenticate.ts'

export type Admitting = Authenticating & { readonly quota: Quota }

interface Admitted {
  readonly participant: Participant
  /** The request in the quotas. The caller of `admit` must call `leave`, whatever happens. */
  readonly admission: Admission
}

/** Refuses a participant of the other environment like one without a grant; only the log has the reason. */
export class OtherEnvironment extends RequestFault {
  /** The reason for the log. It is not sent. */
  readonly reason: 'sandbox_participant_at_live_registry' | 'live_participant_at_sandbox_registry'

  constructor({ environment }: Pick<Participant, 'environment'>) {
    super('err.request.forbidden', NOTHING_GRANTED)
    this.reason =
      environment === 'sandbox' ? 'sandbox_participant_at_live_registry' : 'live_participant_at_sandbox_registry'
  }
}

/**
 * Authenticates the caller and counts the request in its quotas. A sandbox participant is never admitted to a live
 * registry, nor a live one to a sandbox, whatever else is configured; it gets the answer for a missing grant.
 * @throws RequestFault 401, 429, 403 err.request.forbidden
 */
export async function admit(
  deps: Admitting,
  { environment }: Pick<Registry, 'environment'>,
  request: Pick<IncomingRequest, 'headers' | 'identified'>,
): Promise<Admitted> {
  const participant = await authenticate(deps, request)
  const admission = await deps.quota.enter(participant)
  if (participant.environment === environment) return { participant, admission }
  admission.leave(true)
  throw new OtherEnvironment(participant)
}

export interface Authorizing {
  readonly grants: Grants
}

/**
 * Finds the grant of the caller in this registry, before the message is read.
 * @throws RequestFault 403 err.request.forbidden: no grant is in force, or it does not have the operation
 */
export async function authorize(
  { grants }: Authorizing,
  participant: Participant,
  registry: Registry,
  { name }: Operation,
): Promise<Grant> {
  const grant = await grants.of(participant, registry)
  const permission = may(grant, { operation: name })
  if (grant !== null && permission.allowed) return grant
  throw new RequestFault('err.request.forbidden', permission.allowed ? '' : permission.reason)
}
