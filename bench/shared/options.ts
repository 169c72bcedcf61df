/** Options that a benchmark takes. */

/** A whole number of at least 1. Throws an Error that names the option. */
export function wholeNumber(option: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new Error(`--${option} must be a whole number of at least 1`)
}
