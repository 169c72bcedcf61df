/**
 * A batch that is larger than one callback should be is answered in portions: first the first page of each portion, then
 * the second pages of those that have one, and so on. A step is one callback; steps count from 1.
 */

/** Items of one portion: a plain batch is one, a file may have several. */
export const PORTION = 10_000

/** What a step answers. */
export interface Place {
  /** From 0. */
  readonly portion: number
  /** From 1. */
  readonly page: number
  /** The positions of its items: the first, and the first behind them. */
  readonly from: number
  readonly to: number
}

/** @param items of the whole batch */
export const portionsOf = (items: number): number => Math.max(1, Math.ceil(items / PORTION))

export function placeOf(step: number, items: number): Place {
  const portions = portionsOf(items)
  const portion = (step - 1) % portions
  const from = portion * PORTION
  return { portion, page: Math.floor((step - 1) / portions) + 1, from, to: from + PORTION }
}
