/** JSON text that loses nothing: canonical (RFC 8785), and integers beyond its range by their digits. */
import {
  CanonicalJsonError,
  CanonicalText,
  canonicalJson,
  type JsonValue,
  parseJson,
} from '@rollcall/protocol'

/** `parseKept` reads the same value back. Throws CanonicalJsonError for what is no JSON. */
export function exactJson(value: unknown): string {
  try {
    return canonicalJson(value)
  } catch (error) {
    if (error instanceof CanonicalJsonError) return canonicalJson(withDigits(value))
    throw error
  }
}

/** Levels: more than a message may have that is taken (`limits.body_depth`), with a record's around it. */
const KEPT_DEPTH = 1_000

/** What was kept by us is read again, however deep its records are. Throws JsonError for what we did not write. */
export const parseKept = (text: string): JsonValue => parseJson(text, { maxDepth: KEPT_DEPTH })

/** A copy in which each bigint stands as its digits. Rare, so that the copy is not made for every message. */
function withDigits(value: unknown): unknown {
  if (typeof value === 'bigint') return new CanonicalText(String(value))
  if (Array.isArray(value)) return value.map(withDigits)
  if (typeof value !== 'object' || value === null || value instanceof CanonicalText) return value
  const members = Object.entries(value).map(([name, member]) => [name, withDigits(member)] as const)
  return Object.fromEntries(members)
}
