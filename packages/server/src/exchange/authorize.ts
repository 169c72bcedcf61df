/** May the caller do this in this registry? Asked before its message is read. */
import { type Operation, RequestFault } from '@rollcall/protocol'
import type { Grants } from '../directory/grants.ts'
import type { Grant } from '../model/grant.ts'
import type { Participant } from '../model/participant.ts'
import type { Registry } from '../model/registry.ts'
import { may } from '../policy/permission.ts'

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
