/** What would change, in words. */
export interface DiffLine {
  readonly at: string
  readonly from?: unknown
  readonly to?: unknown
}

/** Whether the act is about it, and does not change it. */
export const isAbout = ({ from, to }: Pick<DiffLine, 'from' | 'to'>): boolean =>
  JSON.stringify(from) === JSON.stringify(to)

/** What an act is about, such as a participant and a registry; of something new its name, else the first change. */
export function aboutText(diff: readonly DiffLine[]): string {
  const known = diff.flatMap((line) => (isAbout(line) && typeof line.to !== 'object' ? [line.to] : []))
  if (known.length > 0) return known.join(', ')
  const [{ at, to } = { at: '', to: null }] = diff
  return typeof to === 'string' ? to : at
}

/** A list of plain values in one line; null: it is none. */
export function listText(value: unknown): string | null {
  if (!Array.isArray(value) || value.length === 0) return null
  return value.some((one) => typeof one === 'object') ? null : value.join(', ')
}
