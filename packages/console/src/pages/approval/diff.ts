/** A line of a proposal: a value that the act changes, or one that says what the act is about. */
export interface DiffLine {
  /** The path of the value. */
  readonly at: string
  readonly from?: unknown
  readonly to?: unknown
}

/** True for a line that the act is about and does not change. */
export const isUnchangedLine = ({ from, to }: Pick<DiffLine, 'from' | 'to'>): boolean =>
  JSON.stringify(from) === JSON.stringify(to)

/** The subject of an act, such as a participant; else the name of a new thing; else the path of the first change. */
export function diffSubjectText(diff: readonly DiffLine[]): string {
  const known = diff.flatMap((line) => (isUnchangedLine(line) && typeof line.to !== 'object' ? [line.to] : []))
  if (known.length > 0) return known.join(', ')
  const [{ at, to } = { at: '', to: null }] = diff
  return typeof to === 'string' ? to : at
}

/** Returns a list of plain values as one line of text; null for an empty list, and for any other value. */
export function listText(value: unknown): string | null {
  if (!Array.isArray(value) || value.length === 0) return null
  return value.some((one) => typeof one === 'object') ? null : value.join(', ')
}
