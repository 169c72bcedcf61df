/** The digest by which a message is known again. */
import { hash } from 'node:crypto'
import { CanonicalJsonError, CanonicalText, canonicalJson } from '@rollcall/protocol'

/** What a message is, and where it came in. */
export interface ReceivedMessage {
  /** In canonical spelling. */
  readonly header: unknown
  /** Opened, where it was encrypted: the same message encrypted twice is the same message. */
  readonly message: unknown
  /** Of the registry it came to. */
  readonly namespace: string
  /** Of the operation, such as `registry/sync/search`. */
  readonly path: string
}

/**
 * The SHA-256 of a message without its signature, over canonical JSON: the order of members, white space and
 * a new signature do not matter, everything else does (D27). 32 bytes.
 * Integers that canonical JSON cannot hold count by their digits; what is no JSON throws CanonicalJsonError.
 */
export function exchangeFingerprint({ header, message, namespace, path }: ReceivedMessage): Buffer {
  return hash('sha256', canonical({ header, message, namespace, path }), 'buffer')
}

function canonical(value: unknown): string {
  try {
    return canonicalJson(value)
  } catch (error) {
    if (error instanceof CanonicalJsonError) return canonicalJson(withDigits(value))
    throw error
  }
}

/** A copy in which each bigint stands as its digits. Rare, so that the copy is not made for every message. */
function withDigits(value: unknown): unknown {
  if (typeof value === 'bigint') return new CanonicalText(String(value))
  if (Array.isArray(value)) return value.map(withDigits)
  if (typeof value !== 'object' || value === null || value instanceof CanonicalText) return value
  const members = Object.entries(value).map(([name, member]) => [name, withDigits(member)] as const)
  return Object.fromEntries(members)
}
