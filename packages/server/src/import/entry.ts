/** What every reader yields: one record of the source as it stands there, not yet judged. */
import type { JsonValue } from '@rollcall/protocol'

/** Longest record that is read, in bytes; a longer one is rejected and skipped without being kept in memory. */
export const MAX_ENTRY_BYTES = 8 * 1024 * 1024

/** One record of the source: JSON text still to be parsed, a document, or what is wrong with it. */
export type Entry = {
  /** Line of the source on which it begins; the first is 1. */
  readonly line: number
  /** Bytes of the source that are consumed once this entry is. */
  readonly end: number
} & (
  | { readonly text: Buffer }
  | { readonly document: JsonValue }
  /** Written for the rejects file: never quotes the record. */
  | { readonly problem: string }
)

/** Where a reader begins: all zero, or where an interrupted import had come to. */
export interface Position {
  readonly bytes: number
  readonly line: number
  /** Entries already consumed, for formats in which one cannot begin in the middle. */
  readonly entries: number
}

/** The import as a whole cannot go on, because of what was asked or of what the source is. No personal data. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}
