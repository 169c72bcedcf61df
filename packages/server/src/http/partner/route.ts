/** A call of the partner API, as a row of its table. */

import type { PartnerDeps } from '@rollcall/admin/partner/partner'
import type { Given, UseCase } from '@rollcall/admin/use-case'
import type { Static, TSchema } from 'typebox'
import type { InputLimits } from '../admin/read-input.ts'
import type { DescribedCall } from '../admin/route.ts'

/** The beginning of every path. */
export const PARTNER_BASE = '/partner/api'

/** Bytes of a body: what is larger is no call of the page. */
const MOST_BYTES = 16_384

/** The limits of what is read. */
export const inputLimits = ({ limits }: { readonly limits: InputLimits }): InputLimits => ({
  ...limits,
  admin_body_bytes: MOST_BYTES,
})

/** A call for the peers' listener, which mounts no others: rows for operators have another audience. */
export type PartnerCall = DescribedCall & { readonly audience: 'participant' }

export interface PartnerRoute extends PartnerCall {
  /** @throws AdminRefusal, Throttled */
  readonly call: (deps: PartnerDeps, input: unknown) => Promise<unknown>
}

type Row = Pick<PartnerRoute, 'method' | 'path' | 'name' | 'summary'>

/** A row of the table. The participant is that of the session, and never a member of the input. */
export function partnerRoute<Input extends TSchema, Result extends TSchema>(
  useCase: UseCase<PartnerDeps, Input, Result>,
  row: Row,
): PartnerRoute {
  const { input, result } = useCase
  // The admin function checks its input.
  const call = (deps: PartnerDeps, given: unknown) => useCase(deps, given as Given<Static<Input>>)
  return { ...row, audience: 'participant', hidden: [], status: 200, deprecated: undefined, input, result, call }
}
