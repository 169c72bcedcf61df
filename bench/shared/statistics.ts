/** The few numbers that sum up a benchmark. */

/** The value in the middle, the mean of both where there are two; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  const [lower, upper] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return lower === undefined || upper === undefined ? Number.NaN : (lower + upper) / 2
}

/** The smallest value that is not below this share (0 to 1) of all; NaN of nothing. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** Rounds a value to this many digits after the point. */
export function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
