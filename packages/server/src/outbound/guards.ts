/** One address guard per participant, kept as long as what the operator allows it stays the same. */
import type { AllowedHost } from '../allowed-hosts.ts'
import { type AddressGuard, type AddressGuardOptions, createAddressGuard } from './address-guard.ts'

export interface GuardOwner {
  readonly id: number
  readonly outgoing: readonly AllowedHost[]
}

export interface Guards {
  of(participant: GuardOwner): AddressGuard
  /** Ends all kept connections, after the requests that are under way. */
  close(): Promise<void>
}

/** @param options what is the same for all participants */
export function createGuards(options: Omit<AddressGuardOptions, 'allowed'> = {}): Guards {
  const held = new Map<number, { readonly rows: string; readonly guard: AddressGuard }>()
  return {
    of({ id, outgoing }) {
      const rows = JSON.stringify(outgoing)
      const known = held.get(id)
      if (known?.rows === rows) return known.guard
      const guard = createAddressGuard({ ...options, allowed: outgoing })
      held.set(id, { rows, guard })
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
