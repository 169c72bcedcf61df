/** Canonical texts as somebody else's software writes them, from docs/signature.md. Nothing of ours is used here. */

/** Writes a value as canonical JSON (RFC 8785), correct for the values that tests send. */
export function canonical(value: unknown): string {
  return written(value, (names) => names.sort(), JSON.stringify)
}

const byCodePoint = (names: string[]): string[] =>
  names.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))

/**
 * Writes a value as Python's `json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)` does, for
 * values of tests.
 */
export const sortedUnescaped = (value: unknown): string => written(value, byCodePoint, JSON.stringify)

/**
 * Writes a value as Python's `json.dumps(value, sort_keys=True, separators=(",", ":"))` does, for the values that tests send.
 */
export function sortedEscaped(value: unknown): string {
  return written(value, byCodePoint, (text) =>
    JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}

function written(value: unknown, sorted: (names: string[]) => string[], quoted: (text: string) => string): string {
  const inner = (part: unknown): string => written(part, sorted, quoted)
  if (Array.isArray(value)) return `[${value.map(inner).join(',')}]`
  if (typeof value === 'string') return quoted(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = new Map(Object.entries(value).filter(([, member]) => member !== undefined))
  const names = sorted([...members.keys()])
  return `{${names.map((name) => `${quoted(name)}:${inner(members.get(name))}`).join(',')}}`
}
