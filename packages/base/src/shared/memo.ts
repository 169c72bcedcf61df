/**
 * Remembers one value for each owner, and makes it anew when its source has changed. The least recently used owners are
 * forgotten.
 */
import { recentlyUsed } from './recently-used.ts'

/** Owners that are remembered at a time: more than a node meets at once. */
const OWNERS = 10_000

export class Memo<Value extends object> {
  readonly #entries

  /** @param release called with a value that is replaced or forgotten */
  constructor(release: (value: Value) => unknown = () => undefined) {
    this.#entries = recentlyUsed<string | number, { readonly source: string; readonly value: Value }>(
      OWNERS,
      ({ value }) => release(value),
    )
  }

  /** @param source what the value is made of, as a text */
  of(owner: string | number, source: string, make: () => Value): Value {
    const known = this.#entries.get(owner)
    if (known?.source === source) return known.value
    const value = make()
    this.#entries.set(owner, { source, value })
    return value
  }

  forget(owner: string | number): void {
    this.#entries.delete(owner)
  }

  /** Forgets all, and gives what was remembered. */
  clear(): readonly Value[] {
    const values = [...this.#entries.values()].map(({ value }) => value)
    this.#entries.clear()
    return values
  }
}
