/**
 * The states of a circuit breaker: of the database on this node (`observe/health.ts`), or of a destination of
 * deliveries on all nodes (`store/deliveries`). `closed`: the dependency is used. `open`: it failed lately, and is not
 * used for a while. `probing`: the pause is over, and the next attempt shows whether the dependency works again.
 */
export const BREAKER_STATES = ['closed', 'open', 'probing'] as const

export type BreakerState = (typeof BREAKER_STATES)[number]
