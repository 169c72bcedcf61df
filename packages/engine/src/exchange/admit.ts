/** Decides who is calling, whether the caller may use a registry, and whether it may do an operation there. */

import type { Grant } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { NOTHING_GRANTED_REASON, permissionFor } from '@rollcall/core/policy/permission'
import type { Admission, Quota } from '@rollcall/participants/admission/quota'
import type { Directory } from '@rollcall/participants/directory/directory'
import type { Grants } from '@rollcall/participants/directory/grants'
import type { AccessTokens, TokenOwner } from '@rollcall/participants/directory/tokens'
import type { IncomingRequest } from '@rollcall/participants/reading/body'
import { type Operation, RequestFault } from '@rollcall/protocol'

/** The dependencies of `authenticate`. */
export interface AuthenticateDeps {
  readonly tokens: Pick<AccessTokens, 'verify'>
  readonly directory: Pick<Directory, 'activeParticipant'>
}

/** The dependencies of `admitRequest`. */
export type AdmitDeps = AuthenticateDeps & { readonly quota: Quota }

interface AdmittedCaller {
  readonly participant: Participant
  /** The request as the quotas count it. The caller of `admitRequest` must call `leave`, whatever happens. */
  readonly admission: Admission
}

/** The refusal of a participant at a registry of the other environment. Its text is that for a missing grant. */
export class OtherEnvironmentFault extends RequestFault {
  /** Says for our log which side is the sandbox. The sender is not told. */
  override readonly reason: 'sandbox_participant_at_live_registry' | 'live_participant_at_sandbox_registry'

  constructor({ environment }: Pick<Participant, 'environment'>) {
    super('err.request.forbidden', NOTHING_GRANTED_REASON)
    this.reason = environment === 'sandbox' ? 'sandbox_participant_at_live_registry' : 'live_participant_at_sandbox_registry'
  }
}

/**
 * Authenticates the caller and counts the request in its quotas. A sandbox participant is never admitted to a live
 * registry, nor a live one to a sandbox, whatever else is configured; it gets the answer for a missing grant.
 * @throws RequestFault 401, 429, 403 err.request.forbidden
 */
export async function admitRequest(
  deps: AdmitDeps,
  { environment }: Pick<Registry, 'environment'>,
  request: Pick<IncomingRequest, 'headers' | 'identified'>,
): Promise<AdmittedCaller> {
  const participant = await authenticate(deps, request)
  const admission = await deps.quota.enter(participant)
  if (participant.environment === environment) return { participant, admission }
  admission.leave(true)
  throw new OtherEnvironmentFault(participant)
}

/**
 * Finds the active participant whose access token is in the Authorization header (spec "Authentication" 1, N12).
 * @throws RequestFault 401 err.request.unauthorized; the text says what to do, not why a token failed
 */
export async function authenticate(
  { tokens, directory }: AuthenticateDeps,
  { headers: { authorization }, identified }: Pick<IncomingRequest, 'headers' | 'identified'>,
): Promise<Participant> {
  const token = bearerToken(authorization)
  const participant = await findActiveOwner({ directory }, await tokens.verify(token))
  identified?.(participant.sender_id)
  return participant
}

/**
 * Finds the active participant that owns a token. It is found again when the body has come, because a large body takes long.
 * @param owner what the token, or the participant as it was found before, says of the owner; null: the token is not valid
 * @throws RequestFault 401 err.request.unauthorized
 */
export async function findActiveOwner(
  { directory }: Pick<AuthenticateDeps, 'directory'>,
  owner: TokenOwner | null,
): Promise<Participant> {
  const participant = owner === null ? null : await directory.activeParticipant(owner.sender_id)
  // A token ends when its participant is removed or promoted, even if another participant gets the sender_id later.
  if (participant === null || participant.client_id !== owner?.client_id || participant.environment !== owner.environment) {
    throw unauthorizedFault('Authorization: the access token is not valid here or has expired; ask for a new one')
  }
  return participant
}

/** Reads the token of an Authorization header. @throws RequestFault 401 err.request.unauthorized */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) throw unauthorizedFault('Authorization: a bearer token is required')
  const token = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization)?.[1]
  if (token === undefined) throw unauthorizedFault('Authorization: must be "Bearer" and an access token')
  return token
}

/** Makes the refusal of a request without a valid token: 401 err.request.unauthorized. */
export const unauthorizedFault = (message: string): RequestFault => new RequestFault('err.request.unauthorized', message)

/** The dependencies of `authorize`. */
export interface AuthorizeDeps {
  readonly grants: Grants
}

/**
 * Finds the grant of the caller in this registry, and checks that the grant has the operation.
 * @throws RequestFault 403 err.request.forbidden: no grant is in force, or it does not have the operation
 */
export async function authorize(
  { grants }: AuthorizeDeps,
  participant: Participant,
  registry: Registry,
  { name }: Operation,
): Promise<Grant> {
  const grant = await grants.of(participant, registry)
  const permission = permissionFor(grant, { operation: name })
  if (grant !== null && permission.allowed) return grant
  throw new RequestFault('err.request.forbidden', permission.allowed ? '' : permission.reason)
}
