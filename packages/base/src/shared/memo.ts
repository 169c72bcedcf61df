/**
 * Remembers one value for each owner, such as a participant. Makes the value again when its source has changed: the text from
 * which it was made, such as the stored settings. The least recently used owners are forgotten.
 */
import { createLruCache } from './recently-used.ts'

/** The most owners (the keys of a memo) whose value is remembered: more than a node meets at the same time. */
const MOST_REMEMBERED_VALUES = 10_000

export class Memo<Value extends object> {
  readonly #entries

  /** @param release is called with a value that is replaced or forgotten */
  constructor(release: (value: Value) => unknown = () => undefined) {
    this.#entries = createLruCache<string | number, { readonly source: string; readonly value: Value }>(
      MOST_REMEMBERED_VALUES,
      ({ value }) => release(value),
    )
  }

  /** Returns the owner's value. `make` makes it when none is remembered, or when the text `source` has changed. */
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

  /** Forgets all values, and returns them. */
  clear(): readonly Value[] {
    const values = [...this.#entries.values()].map(({ value }) => value)
    this.#entries.clear()
    return values
  }
}
