/** Strict base64: each sequence of bytes has only one text (RFC 4648, 3.5), so nobody can respell a signed text. */

import { nodeBuffer } from './node.ts'

export type Bytes = Uint8Array<ArrayBuffer>

const utf8Encoder = new TextEncoder()

/** The text as UTF-8 bytes; a lone surrogate becomes U+FFFD. */
export const utf8Bytes = (text: string): Bytes => nodeBuffer?.from(text, 'utf8') ?? utf8Encoder.encode(text)

/** Returns bytes as standard base64 text with padding. */
export function toBase64(bytes: Bytes): string {
  if (nodeBuffer !== undefined) return nodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
  let binary = ''
  // The bytes are converted in portions, because an engine limits the number of arguments.
  for (let at = 0; at < bytes.length; at += 4096) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 4096))
  }
  return btoa(binary)
}

const BASE64_PATTERN = /^[A-Za-z0-9+/]*={0,2}$/

/** Reads standard base64. Null for any text that `toBase64` would not write, such as one with white space or without padding. */
export function fromBase64(text: string): Bytes | null {
  if (text.length % 4 !== 0 || !BASE64_PATTERN.test(text)) return null
  const binary = atobOrNull(text)
  if (binary === null || btoa(binary) !== text) return null
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index)
  return bytes
}

/** Returns bytes as base64url text without padding, as in a JWS (RFC 7515, 2). */
export function toBase64Url(bytes: Bytes): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

const BASE64URL_PATTERN = /^[A-Za-z0-9_-]*$/

/** Reads base64url without padding. Null for any text that `toBase64Url` would not write. */
export function fromBase64Url(text: string): Bytes | null {
  if (!BASE64URL_PATTERN.test(text)) return null
  const standard = text.replaceAll('-', '+').replaceAll('_', '/')
  return fromBase64(standard.padEnd(Math.ceil(text.length / 4) * 4, '='))
}

function atobOrNull(text: string): string | null {
  try {
    return atob(text)
  } catch {
    return null
  }
}

/** The allowed last characters, by the number of characters modulo 4. The bits that no byte uses must be zero in them. */
const LAST_BASE64_CHARACTER_PATTERNS: Readonly<Record<number, RegExp>> = { 2: /[AQgw]$/, 3: /[AEIMQUYcgkosw048]$/ }

/**
 * The number of bytes that a base64url text stands for. Null for other characters, padding, white space, an impossible
 * length, or unused bits that are not zero.
 */
export function base64urlByteCount(text: unknown): number | null {
  if (typeof text !== 'string' || text.length % 4 === 1 || !BASE64URL_PATTERN.test(text)) return null
  if (LAST_BASE64_CHARACTER_PATTERNS[text.length % 4]?.test(text) === false) return null
  return Math.floor((text.length * 3) / 4)
}
