/** The digest by which a message is known again. */
import { hash } from 'node:crypto'
import { canonicalJson } from '@rollcall/protocol'

/** The parts that identify a message, and the path on which it arrived. */
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
 * What is no JSON throws CanonicalJsonError.
 */
export function exchangeFingerprint({ header, message, namespace, path }: ReceivedMessage): Buffer {
  return hash('sha256', canonicalJson({ header, message, namespace, path }), 'buffer')
}
