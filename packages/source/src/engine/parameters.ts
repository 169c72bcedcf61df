/** Collects the values of a statement. */
export class Parameters {
  readonly values: unknown[] = []
  readonly #write: (position: number, type: string) => string

  /** @param write a parameter as it stands in the statement; the first position is 1 */
  constructor(write: (position: number, type: string) => string) {
    this.#write = write
  }

  /** @returns the parameter as it stands in the statement */
  add(value: unknown, type: string): string {
    this.values.push(value)
    return this.#write(this.values.length, type)
  }
}
