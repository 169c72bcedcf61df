/** May the caller do this in this registry? Asked before its message is read. */

import type { Grant } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { may } from '@rollcall/core/policy/permission'
import type { Grants } from '@rollcall/participants/directory/grants'
import { type Operation, RequestFault } from '@rollcall/protocol'

export interface Authorizing {
  readonly grants: Grants
}

/** @throws RequestFault 403 err.request.forbidden: there is no grant in force, or it does not have the operation */
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
