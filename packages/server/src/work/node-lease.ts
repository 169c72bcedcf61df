/** The time at which a node's session was last heard, shared between its thread and the one that works. */

/** One element: nanoseconds of `process.hrtime`, which is one clock for all threads. */
export type Heard = BigInt64Array<SharedArrayBuffer>

/** The part of the lease that is kept for what was begun before its end and arrives after. */
const MARGIN = 0.2
const NANOSECONDS = 1_000_000

/** Whether the lease lasts, now and a little longer. @param lease milliseconds */
export function isWithin(heard: Heard, lease: number): boolean {
  const silence = Number(process.hrtime.bigint() - Atomics.load(heard, 0)) / NANOSECONDS
  return silence < lease * (1 - MARGIN)
}
