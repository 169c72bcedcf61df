/** Collects the parameters of a statement. */
export class Parameters {
  readonly values: unknown[] = []
  readonly #write: (position: number, type: string) => string

  /**
   * Begins without values.
   * @param write makes the SQL of a parameter, such as `$1`, from its position (the first is 1) and the SQL type of its value
   */
  constructor(write: (position: number, type: string) => string) {
    this.#write = write
  }

  /** Adds a value. @returns the SQL of its parameter */
  add(value: unknown, type: string): string {
    this.values.push(value)
    return this.#write(this.values.length, type)
  }
}
