/** A line of a proposal. The act changes its value, or the value says what the act is about and does not change. */
export interface DiffLine {
  /** The name of the value, such as `jwks_uri` or `purposes.eligibility`. */
  readonly at: string
  readonly from?: unknown
  readonly to?: unknown
}

/** True for a line that the act is about and does not change. */
export const isUnchangedLine = ({ from, to }: Pick<DiffLine, 'from' | 'to'>): boolean =>
  JSON.stringify(from) === JSON.stringify(to)

/**
 * Says what an act is about: the values that it does not change, such as a participant. If there are none: the new value of the
 * first line when it is a text, such as the name of a new registry; otherwise the path of the first line.
 */
export function diffSubjectText(diff: readonly DiffLine[]): string {
  const known = diff.flatMap((line) => (isUnchangedLine(line) && typeof line.to !== 'object' ? [line.to] : []))
  if (known.length > 0) return known.join(', ')
  const [{ at, to } = { at: '', to: null }] = diff
  return typeof to === 'string' ? to : at
}

/** Returns a list of plain values as one line of text; null for an empty list, and for any other value. */
export function findScalarListText(value: unknown): string | null {
  if (!Array.isArray(value) || value.length === 0) return null
  return value.some((one) => typeof one === 'object') ? null : value.join(', ')
}
