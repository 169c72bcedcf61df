/** Decides whether a grant allows what its participant wants to do: the operation, the types, the programme. */
import { type Grant, isNameGranted } from '../model/grant.ts'

/** The act that a participant wants to do or to continue. Names are canonical. */
export interface PermissionRequest {
  /** The name of the operation. */
  readonly operation: string
  readonly event_type?: string
  readonly record_type?: string
  /** The key of the programme whose enrolments the act writes (`programmeKey`). */
  readonly programme?: string
  /** True for a subscription to every record, without a filter. */
  readonly unfiltered?: boolean
}

/** The decision about an act. */
export type Permission =
  | { readonly allowed: true; readonly grant: Grant }
  /** `reason` is the rule that refuses the act, in words for the participant. */
  | { readonly allowed: false; readonly reason: string }

/** `granted` names a list of the grant, and `named` a member of the request. The list must include the value of that member. */
const PERMISSION_RULES = [
  { granted: 'operations', named: 'operation', reason: 'this operation is not granted to this participant' },
  { granted: 'recordTypes', named: 'record_type', reason: 'this record type is not granted to this participant' },
  { granted: 'eventTypes', named: 'event_type', reason: 'this event type is not granted to this participant' },
  { granted: 'programmes', named: 'programme', reason: 'this programme is not granted to this participant' },
] as const

const FILTER_REQUIRED_REASON = 'this participant may not subscribe without a filter'
export const NOTHING_GRANTED_REASON = 'nothing in this registry is granted to this participant'

/** Says whether a grant allows an act, and if not, why. @param grant the valid grant; null: nothing is allowed */
export function permissionFor(grant: Grant | null, wanted: PermissionRequest): Permission {
  if (grant === null) return { allowed: false, reason: NOTHING_GRANTED_REASON }
  for (const { granted, named, reason } of PERMISSION_RULES) {
    const name = wanted[named]
    if (name !== undefined && !isNameGranted(grant[granted], name)) return { allowed: false, reason }
  }
  if (wanted.unfiltered === true && grant.terms.unfiltered !== true) return { allowed: false, reason: FILTER_REQUIRED_REASON }
  return { allowed: true, grant }
}
