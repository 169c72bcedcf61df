/** NDJSON: one JSON document a line. */
import { type Entry, MAX_ENTRY_BYTES, type Position } from './entry.ts'
import type { Source } from './source.ts'

const NEWLINE = 0x0a
const BLANK = new Set([0x20, 0x09, 0x0d])

/** Reads lines from where an earlier import ended. Blank lines are counted and skipped. */
export async function* readNdjson(source: Source, from: Position): AsyncGenerator<Entry[]> {
  const line = new LineBuffer()
  let number = from.line
  let end = Math.max(from.bytes, source.markBytes)
  for await (const chunk of source.chunks(from.bytes)) {
    const entries: Entry[] = []
    let start = 0
    for (let stop = chunk.indexOf(NEWLINE); stop !== -1; stop = chunk.indexOf(NEWLINE, start)) {
      line.add(chunk.subarray(start, stop))
      start = stop + 1
      number += 1
      end += line.length + 1
      const entry = line.take(number, end)
      if (entry !== null) entries.push(entry)
    }
    line.add(chunk.subarray(start))
    if (entries.length > 0) yield entries
  }
  const last = line.take(number + 1, end + line.length)
  if (last !== null) yield [last]
}

/** The line that is being read: pieces from several chunks, dropped as soon as they are too long. */
class LineBuffer {
  length = 0
  #pieces: Buffer[] = []

  add(piece: Buffer): void {
    this.length += piece.length
    if (this.length > MAX_ENTRY_BYTES) this.#pieces = []
    else if (piece.length > 0) this.#pieces.push(piece)
  }

  /** The line as an entry, null when it is blank; begins the next line. */
  take(line: number, end: number): Entry | null {
    const [first] = this.#pieces
    const text = first !== undefined && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces)
    const tooLong = this.length > MAX_ENTRY_BYTES
    this.#pieces = []
    this.length = 0
    if (tooLong) return { line, end, problem: `longer than ${MAX_ENTRY_BYTES} bytes` }
    return isBlank(text) ? null : { line, end, text }
  }
}

function isBlank(text: Buffer): boolean {
  for (const byte of text) if (!BLANK.has(byte)) return false
  return true
}
