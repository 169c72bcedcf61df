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
import { type Operation, operationsOf, RequestFault } from '@rollcall/protocol'

interface AuthenticateDeps {
  readonly tokens: Pick<AccessTokens, 'verify'>
  readonly directory: Pick<Directory, 'activeParticipant'>
}

export type AdmitDeps = AuthenticateDeps & { readonly quota: Quota }

/** The participant that sends a request, and the admission of the request. */
interface AdmittedParticipant {
  readonly participant: Participant
  /** The request as the quotas count it. The caller of `admitRequest` must call `leave`, whatever happens. */
  readonly admission: Admission
}

/** Refuses a live participant at a sandbox registry, or a sandbox one at a live registry, with the text for a missing grant. */
export class OtherEnvironmentFault extends RequestFault {
  /** Says for our log which side is the sandbox. The sender is not told. */
  override readonly reason: 'sandbox_participant_at_live_registry' | 'live_participant_at_sandbox_registry'

  constructor({ environment }: Pick<Participant, 'environment'>) {
    super('err.request.forbidden', NOTHING_GRANTED_REASON)
    this.reason = environment === 'sandbox' ? 'sandbox_participant_at_live_registry' : 'live_participant_at_sandbox_registry'
  }
}

/**
 * Authenticates the caller and counts the request in its quotas, also if it is then refused. A sandbox participant is never
 * admitted to a live registry, nor a live one to a sandbox, whatever else is configured; it gets the answer for a missing grant.
 * @param operation the operation of the path; absent for a callback, which every registry takes
 * @throws RequestFault 401; 429; 404 err.request.not_found: the registry does not have the operation; 403 err.request.forbidden
 */
export async function admitRequest(
  deps: AdmitDeps,
  registry: Pick<Registry, 'environment' | 'kind'>,
  request: Pick<IncomingRequest, 'headers' | 'onParticipantKnown'>,
  operation?: Operation,
): Promise<AdmittedParticipant> {
  const participant = await authenticate(deps, request)
  const admission = await deps.quota.enter(participant)
  try {
    if (operation !== undefined && !operationsOf(registry.kind).includes(operation)) throw operationNotServedFault()
    if (participant.environment !== registry.environment) throw new OtherEnvironmentFault(participant)
    return { participant, admission }
  } catch (fault) {
    admission.leave({ refused: true })
    throw fault
  }
}

/** The fault 404 for an operation of the protocol that registries of this kind do not have. */
const operationNotServedFault = (): RequestFault =>
  new RequestFault('err.request.not_found', 'this operation is not served by this registry')

/**
 * Finds the active participant whose access token is in the Authorization header (spec "Authentication" 1, N12).
 * @throws RequestFault 401 err.request.unauthorized; the text says what to do, not why a token failed
 */
async function authenticate(
  { tokens, directory }: AuthenticateDeps,
  { headers: { authorization }, onParticipantKnown }: Pick<IncomingRequest, 'headers' | 'onParticipantKnown'>,
): Promise<Participant> {
  const token = bearerToken(authorization)
  const participant = await requireActiveParticipant({ directory }, await tokens.verify(token))
  onParticipantKnown?.(participant.sender_id)
  return participant
}

/**
 * Finds the active participant that owns a token. After the body has come, callers find the participant again, because a large
 * body takes long.
 * @param owner the owner that the token names, or the participant that was found before; null: the token is not valid
 * @throws RequestFault 401 err.request.unauthorized
 */
export async function requireActiveParticipant(
  { directory }: Pick<AuthenticateDeps, 'directory'>,
  owner: TokenOwner | null,
): Promise<Participant> {
  const participant = owner === null ? null : await directory.activeParticipant(owner.sender_id)
  // A removed participant has another client_id than a later one with its sender_id. A promoted one has another environment.
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
  if (!permission.allowed) throw new RequestFault('err.request.forbidden', permission.reason)
  return permission.grant
}
