/** The type of a row in the table of the partner API, which describes a call. */

import type { AdminFunction, InputWithUndefined } from '@rollcall/admin/admin-function'
import type { PartnerDeps } from '@rollcall/admin/partner/partner'
import type { Static, TSchema } from 'typebox'
import type { InputLimits } from '../admin/read-input.ts'
import type { DescribedCall } from '../admin/route.ts'
import type { RouteMethod } from '../server.ts'

/** The beginning of the path of every call of the partner API. */
export const PARTNER_BASE = '/partner/api'

/** The most bytes of a call's body. The bodies that the partner page sends are shorter. */
const MOST_BODY_BYTES = 16_384

/** The limits for reading the input of a call. */
export const partnerInputLimits = ({ limits }: { readonly limits: InputLimits }): InputLimits => ({
  ...limits,
  admin_body_bytes: MOST_BODY_BYTES,
})

/** A call of the partner API. Calls of the admin API have the audience `operator`, and the peers' listener does not have them. */
export type PartnerCall = DescribedCall & { readonly audience: 'participant' }

export interface PartnerRoute extends PartnerCall {
  /** Runs the admin function. @throws AdminRefusal, RequestFault 429 */
  readonly call: (deps: PartnerDeps, input: unknown) => Promise<unknown>
}

type PartnerRouteRow = Pick<PartnerRoute, 'name' | 'summary'>

/** Makes a row of the table. The participant is always that of the session, and never a member of the input. */
export function partnerRoute<Input extends TSchema, Result extends TSchema>(
  method: RouteMethod,
  path: string,
  adminFunction: AdminFunction<PartnerDeps, Input, Result>,
  row: PartnerRouteRow,
): PartnerRoute {
  const { input, result } = adminFunction
  // The input is not checked yet; the admin function checks it.
  const call = (deps: PartnerDeps, given: unknown) => adminFunction(deps, given as InputWithUndefined<Static<Input>>)
  const usual = { audience: 'participant', hidden: [], status: 200, deprecated: undefined } as const
  return { ...usual, ...row, method, path, input, result, call }
}
