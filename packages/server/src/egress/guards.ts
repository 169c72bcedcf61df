/** One address guard per participant, kept as long as what the operator allows it stays the same. */
import type { AllowedHost } from '../model/allowed-hosts.ts'
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
  const held = new Map<string, { readonly rows: string; readonly guard: AddressGuard }>()
  return {
    of({ id, outgoing }, identity) {
      const name = identity === undefined ? `${id}` : `${id} with a certificate`
      const rows = JSON.stringify([outgoing, identity?.fingerprint ?? null])
      const known = held.get(name)
      if (known?.rows === rows) return known.guard
      const guard = createAddressGuard({
        ...options,
        allowed: outgoing,
        ...(identity !== undefined && { identity }),
      })
      held.set(name, { rows, guard })
      // A connection that is no longer allowed may end its request and takes no other one.
      known?.guard.close().catch(() => undefined)
      return guard
    },
    async close() {
      await Promise.all([...held.values()].map(({ guard }) => guard.close()))
      held.clear()
    },
  }
}
