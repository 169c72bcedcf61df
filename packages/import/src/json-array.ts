/** Divides a JSON array into its elements while it is read, without holding all of it in memory. */
import {
  ImportError,
  type ImportSource,
  MAX_ENTRY_BYTES,
  readRemainingEntries,
  type SourceEntry,
  type SourcePosition,
} from './source.ts'

const [QUOTE, BACKSLASH, COMMA, NEWLINE] = [0x22, 0x5c, 0x2c, 0x0a]
const OPENING_BRACKET_BYTES = new Set([0x7b, 0x5b])
const CLOSING_BRACKET_BYTES = new Set([0x7d, 0x5d])
const [ARRAY_START, ARRAY_END] = [0x5b, 0x5d]
const BLANK_BYTES = new Set([0x20, 0x09, 0x0d, NEWLINE])

/**
 * Reads the elements of the array. This code only finds where each element begins and ends; the parser checks it later.
 * So a bad element is rejected, and reading continues.
 * @throws ImportError the source is no array, is cut off, or has something else between or after its elements
 */
export const readJsonArray = (source: ImportSource, from: SourcePosition): AsyncGenerator<SourceEntry[]> =>
  readRemainingEntries(source, from, new ArraySplitter())

/** What must come next outside of an element. In the states `first` and `comma`, the array may also end. */
type ExpectedToken = 'array' | 'first' | 'element' | 'comma' | 'nothing'

class ArraySplitter {
  #expected: ExpectedToken = 'array'
  #line = 1
  #bytes = 0
  /** True within an element. The next members are the state there: open brackets, and whether a text and an escape are open. */
  #inside = false
  #depth = 0
  #inString = false
  #escaped = false
  #pieces: Buffer[] = []
  #length = 0
  #startLine = 0

  /** Returns the elements that end in this chunk. */
  push(chunk: Buffer): SourceEntry[] {
    const entries: SourceEntry[] = []
    let start = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number
      if (byte === NEWLINE) this.#line += 1
      if (!this.#inside) {
        if (BLANK_BYTES.has(byte) || !this.#between(byte)) continue
        start = at
      }
      if (!this.#endsElement(byte)) continue
      // The index after the last byte of the element. A number or a word, such as 17 or null, ends before `byte`: a comma, a
      // blank or a closing bracket (then the depth is -1). For any other element, `byte` is its last byte.
      const after = this.#depth < 0 || byte === COMMA || BLANK_BYTES.has(byte) ? at : at + 1
      this.#keep(chunk.subarray(start, after))
      entries.push(this.#take(this.#bytes + after))
      if (after === at && !BLANK_BYTES.has(byte)) this.#between(byte)
    }
    if (this.#inside) this.#keep(chunk.subarray(start))
    this.#bytes += chunk.length
    return entries
  }

  finish(): SourceEntry[] {
    if (this.#expected === 'array') throw new ImportError('the file is empty; a JSON array is expected')
    if (this.#expected !== 'nothing') throw new ImportError('the file ends before its JSON array ends; is it complete?')
    return []
  }

  /** Checks a byte between elements. Returns true when it begins an element. */
  #between(byte: number): boolean {
    const expected = this.#expected
    if (expected === 'array') {
      if (byte !== ARRAY_START)
        throw new ImportError('the file is not a JSON array; if it has one JSON object on each line, add --format ndjson')
      this.#expected = 'first'
      return false
    }
    if (byte === ARRAY_END && (expected === 'first' || expected === 'comma')) {
      this.#expected = 'nothing'
      return false
    }
    if (expected === 'comma' && byte === COMMA) {
      this.#expected = 'element'
      return false
    }
    if (expected === 'nothing') throw new ImportError(`line ${this.#line}: there is text after the end of the array`)
    if (expected === 'comma') throw new ImportError(`line ${this.#line}: a comma or the end of the array is missing`)
    if (byte === COMMA || CLOSING_BRACKET_BYTES.has(byte)) {
      throw new ImportError(`line ${this.#line}: an element of the array is missing`)
    }
    this.#inside = true
    this.#startLine = this.#line
    return true
  }

  /** Reads a byte of an element. Returns true when the element ends with it, or just before it. */
  #endsElement(byte: number): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false
      else if (byte === BACKSLASH) this.#escaped = true
      else if (byte === QUOTE) this.#inString = false
      return !this.#inString && this.#depth === 0
    }
    if (byte === QUOTE) this.#inString = true
    else if (OPENING_BRACKET_BYTES.has(byte)) this.#depth += 1
    else if (CLOSING_BRACKET_BYTES.has(byte)) {
      this.#depth -= 1
      return this.#depth <= 0
    } else if (this.#depth === 0) return byte === COMMA || BLANK_BYTES.has(byte)
    return false
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length
    if (this.#length > MAX_ENTRY_BYTES) this.#pieces = []
    else this.#pieces.push(piece)
  }

  #take(end: number): SourceEntry {
    const position = { line: this.#startLine, end }
    const entry: SourceEntry =
      this.#length > MAX_ENTRY_BYTES
        ? { ...position, problem: `the record is longer than ${MAX_ENTRY_BYTES} bytes` }
        : { ...position, text: Buffer.concat(this.#pieces) }
    this.#pieces = []
    this.#length = 0
    this.#depth = 0
    this.#inside = false
    this.#expected = 'comma'
    return entry
  }
}
