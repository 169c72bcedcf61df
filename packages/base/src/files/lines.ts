/** Splits a stream of bytes into lines. */
import { ByteCollector } from '../shared/pieces.ts'

const [TAB, NEWLINE, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20]

/** The UTF-8 byte order mark, which may begin a file. */
export const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf])

export interface Line {
  /** The number of the line, from 1. */
  readonly line: number
  /** The number of bytes from the beginning of the file to the end of this line. */
  readonly end: number
  /** The line without its line feed; null when the line is too long. */
  readonly bytes: Buffer | null
}

/** Cuts a stream into lines. Blank lines are counted and left out. */
export class LineCutter {
  readonly #longest: number
  #pieces = new ByteCollector()
  #length = 0
  #line: number
  #end: number

  /**
   * @param longest the largest size of a line in bytes; a longer line is not kept in memory
   * @param from how many lines and bytes of the file come before the first byte of the stream; 0 for a whole file
   */
  constructor(longest: number, from: { readonly line: number; readonly bytes: number }) {
    this.#longest = longest
    this.#line = from.line
    this.#end = from.bytes
  }

  /** Returns the lines that end in this chunk. */
  push(chunk: Buffer): Line[] {
    const lines: Line[] = []
    let start = this.#length === 0 ? this.#skip(chunk, 0) : 0
    for (let stop = chunk.indexOf(NEWLINE, start); stop !== -1; stop = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, stop))
      this.#end += this.#length + 1
      lines.push(...this.#take())
      start = this.#skip(chunk, stop + 1)
    }
    this.#keep(chunk.subarray(start))
    return lines
  }

  /** Returns the last line, if no line feed ends it. */
  finish(): Line[] {
    this.#end += this.#length
    return this.#take()
  }

  #skip(chunk: Buffer, from: number): number {
    const { start, lines } = skipBlankLines(chunk, from)
    this.#line += lines
    this.#end += start - from
    return start
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length
    if (this.#length > this.#longest) this.#pieces = new ByteCollector()
    else if (piece.length > 0) this.#pieces.push(piece)
  }

  #take(): Line[] {
    const bytes = this.#pieces.bytes()
    const tooLong = this.#length > this.#longest
    this.#pieces = new ByteCollector()
    this.#length = 0
    this.#line += 1
    if (tooLong) return [{ line: this.#line, end: this.#end, bytes: null }]
    return isBlank(bytes) ? [] : [{ line: this.#line, end: this.#end, bytes }]
  }
}

const isSpace = (byte: number | undefined): boolean => byte === SPACE || byte === TAB || byte === RETURN

/**
 * Skips blank lines from `start`. Returns where the line after them begins, and the number of skipped lines. A last line without
 * line feed is not skipped, even if it is blank so far.
 */
export function skipBlankLines(chunk: Buffer, start: number): { readonly start: number; lines: number } {
  let [from, lines] = [start, 0]
  for (let at = start; at < chunk.length; at += 1) {
    const byte = chunk[at]
    if (byte === NEWLINE) {
      from = at + 1
      lines += 1
    } else if (!isSpace(byte)) break
  }
  return { start: from, lines }
}

/** True when a line has only spaces, tabs and carriage returns. */
export function isBlank(line: Buffer): boolean {
  return line.every(isSpace)
}
