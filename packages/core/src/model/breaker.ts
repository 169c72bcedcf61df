/**
 * The states of a circuit breaker, for the database (`observe/src/health.ts`) or for a destination of deliveries
 * (`delivery/src/store/deliveries`). `closed`: the dependency is used. `open`: it failed recently and is not used for a
 * while. `probing`: the next attempt shows whether it works again.
 */
export const BREAKER_STATES = ['closed', 'open', 'probing'] as const

export type BreakerState = (typeof BREAKER_STATES)[number]
