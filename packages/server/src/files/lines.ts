/** A file as lines, out of a stream of bytes. */
import { afterBlankLines, isBlank } from './blank-lines.ts'

const NEWLINE = 0x0a

export interface Line {
  /** Its number; the first is 1. */
  readonly line: number
  /** Bytes of the file that are consumed once this line is. */
  readonly end: number
  /** Without the line feed that ends it; null where it is longer than the longest that is kept. */
  readonly bytes: Buffer | null
}

/** Cuts a stream into lines. Blank lines are counted and left out. */
export class LineCutter {
  readonly #longest: number
  #pieces: Buffer[] = []
  #length = 0
  #line: number
  #end: number

  /**
   * @param longest bytes of the longest line that is kept; of a longer one nothing is held in memory
   * @param from where the stream begins in its file
   */
  constructor(longest: number, from: { readonly line: number; readonly bytes: number }) {
    this.#longest = longest
    this.#line = from.line
    this.#end = from.bytes
  }

  /** The lines that end in this chunk. */
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

  /** The last line, when no line feed ends it. */
  finish(): Line[] {
    this.#end += this.#length
    return this.#take()
  }

  #skip(chunk: Buffer, from: number): number {
    const { start, lines } = afterBlankLines(chunk, from)
    this.#line += lines
    this.#end += start - from
    return start
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length
    if (this.#length > this.#longest) this.#pieces = []
    else if (piece.length > 0) this.#pieces.push(piece)
  }

  #take(): Line[] {
    const [first] = this.#pieces
    const bytes = first !== undefined && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces)
    const tooLong = this.#length > this.#longest
    this.#pieces = []
    this.#length = 0
    this.#line += 1
    if (tooLong) return [{ line: this.#line, end: this.#end, bytes: null }]
    return isBlank(bytes) ? [] : [{ line: this.#line, end: this.#end, bytes }]
  }
}
