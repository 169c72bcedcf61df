/**
 * Lets a node claim an exchange in the statement that accepts it, if its worker has a free slot. The node then begins the answer
 * at once, and needs no other statement to claim the exchange.
 */
import type { DeliveryClaim } from '@rollcall/core/model/delivery'
import type { AcceptedExchange } from '../store/exchanges/accepted-exchanges.ts'

/** A slot of the worker that is reserved for an exchange until `begin` or `free` is called. */
export interface ReservedWorkerSlot {
  /** The claim of this node, to be stored in the statement that accepts the exchange. */
  readonly claim: DeliveryClaim
  /** Begins to answer the exchange (`answerAccepted`), after it was committed with the claim. */
  begin(): void
  /** Frees the slot, because the exchange was not committed, or not with the claim. */
  free(): void
}

/**
 * Reserves a slot for an exchange that is about to be accepted (`ExchangeWork.keepSlot`); null: this node may reserve none, and a
 * node claims the exchange later.
 */
export type ReserveWorkerSlot = (exchange: AcceptedExchange) => ReservedWorkerSlot | null

/** Reserves slots of this node's worker, which answers accepted requests, for requests that the node is about to accept. */
export interface AcceptanceSlots {
  readonly keep: ReserveWorkerSlot
  /** Called when a worker starts. Before that, and on a node without a worker, no slot is reserved. */
  open(keep: ReserveWorkerSlot): void
}

/** Creates the AcceptanceSlots of a node. `keep` returns null until a worker calls `open`. */
export function createAcceptanceSlots(): AcceptanceSlots {
  let worker: ReserveWorkerSlot = () => null
  return {
    keep: (exchange) => worker(exchange),
    open(keep) {
      worker = keep
    },
  }
}
