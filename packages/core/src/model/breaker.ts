/**
 * How well a dependency is, as a circuit breaker says it: of the database on this node (`observe/health.ts`), and of a
 * destination of deliveries on all nodes (`store/deliveries`). `closed`: it is used. `open`: it failed lately and is left
 * alone for a while. `probing`: that time is over, and the next attempt shows whether it is well again.
 */
export const BREAKER_STATES = ['closed', 'open', 'probing'] as const

export type BreakerState = (typeof BREAKER_STATES)[number]
