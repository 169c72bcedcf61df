/** Turns the refusal of an admin function into the fault of a request. */

import type { AdminRefusal, RefusalReason } from '@rollcall/admin/admin-function'
import { RequestFault } from '@rollcall/protocol'

const FAULT_BY_REASON: Readonly<
  Record<
    RefusalReason,
    readonly [
      code: 'err.request.bad' | 'err.request.not_found' | 'err.request.forbidden' | 'err.service.unavailable',
      status: number,
    ]
  >
> = {
  invalid: ['err.request.bad', 400],
  not_found: ['err.request.not_found', 404],
  conflict: ['err.request.bad', 409],
  forbidden: ['err.request.forbidden', 403],
  unavailable: ['err.service.unavailable', 503],
}

/** Makes the fault of a refusal. Its message has the hint of the refusal only when the caller may see the hint. */
export function asRequestFault({ reason, message, hint }: AdminRefusal, hinted = false): RequestFault {
  const [code, status] = FAULT_BY_REASON[reason]
  return new RequestFault(code, hinted ? `${message}${hint}` : message, status)
}
