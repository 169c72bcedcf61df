/** What is remembered of refused requests: who was refused, and how often an address came without anything to show. */
import type { IncomingMessage } from 'node:http'
import { RequestFault } from '@rollcall/protocol'
import type { Throttle } from '../admission/throttle.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Refusals } from '../observe/refusals.ts'
import { clientUnit } from './client-address.ts'

/** A request, or what can be said of one that was not readable. */
export type Caller = Pick<IncomingMessage, 'socket' | 'headers'>

export interface Gate {
  /** Whose token a request showed, for what is said when it is refused. */
  identified(request: Caller, sender_id: string): void
  /**
   * Notes a refused request. One without a good token counts for its address.
   * @returns what to answer: 429 where the address had too many of them
   */
  refused(request: Caller, fault: RequestFault): RequestFault
  /** What counts as one client: its address, or the /64 of it. */
  unit(request: Caller): string
  /** Seconds until a token is given to this address again; 0: now. */
  wait(request: Caller): number
  /** Notes a refused token request, which counts for its address. `participant` where the client is known. */
  tokenRefused(request: Caller, error: string, participant: string | null): void
}

export function createGate(parts: {
  readonly refusals: Refusals
  readonly metrics: Pick<Metrics, 'requestRefused'>
  /** Failures by address. */
  readonly failures: Throttle
  readonly clientAddress: (request: Caller) => string
}): Gate {
  const { refusals, metrics, failures, clientAddress } = parts
  const senders = new WeakMap<Caller, string>()
  const unitOf = (request: Caller): string => clientUnit(clientAddress(request))

  const count = (address: string): number => {
    const wait = failures.wait(address)
    if (wait === 0) failures.fail(address)
    else metrics.requestRefused('address_failures')
    return wait
  }

  return {
    unit: unitOf,
    identified: (request, sender_id) => void senders.set(request, sender_id),
    refused(request, fault) {
      // What is ours is told elsewhere.
      if (fault.httpStatus >= 500) return fault
      const address = unitOf(request)
      refusals.note({ refusal: fault.code, participant: senders.get(request) ?? null, address })
      if (fault.code !== 'err.request.unauthorized') return fault
      const retryAfter = count(address)
      if (retryAfter === 0) return fault
      return new RequestFault(
        'err.request.too_many_requests',
        'too many requests without a good access token from this address; try again later',
        undefined,
        { retryAfter },
      )
    },
    wait(request) {
      const wait = failures.wait(unitOf(request))
      if (wait > 0) metrics.requestRefused('address_failures')
      return wait
    },
    tokenRefused(request, error, participant) {
      const address = unitOf(request)
      refusals.note({ refusal: `token.${error}`, participant, address })
      if (failures.wait(address) === 0) failures.fail(address)
    },
  }
}
