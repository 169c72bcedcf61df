/** One address guard per participant, kept as long as what the operator allows it stays the same. */
import type { AllowedHost } from '../model/allowed-hosts.ts'
import { Memo } from '../shared/memo.ts'
import {
  type AddressGuard,
  type AddressGuardOptions,
  type ClientIdentity,
  createAddressGuard,
} from './address-guard.ts'

export interface GuardOwner {
  readonly id: number
  readonly outgoing: readonly AllowedHost[]
}

export interface Guards {
  /** @param identity what its connections show of us; they are then used for nothing else */
  of(participant: GuardOwner, identity?: ClientIdentity): AddressGuard
  /** Ends all kept connections, after the requests that are under way. */
  close(): Promise<void>
}

/** @param options what is the same for all participants */
export function createGuards(options: Omit<AddressGuardOptions, 'allowed'> = {}): Guards {
  // A connection that is no longer allowed may end its request and takes no other one.
  const guards = new Memo<AddressGuard>((guard) => void guard.close().catch(() => undefined))
  return {
    of({ id, outgoing }, identity) {
      const owner = identity === undefined ? id : `${id} with a certificate`
      const source = JSON.stringify([outgoing, identity?.fingerprint ?? null])
      return guards.of(owner, source, () =>
        createAddressGuard({
          ...options,
          allowed: outgoing,
          ...(identity !== undefined && { identity }),
        }),
      )
    },
    async close() {
      await Promise.all(guards.clear().map((guard) => guard.close()))
    },
  }
}
