/** NDJSON: one JSON document a line. */
import { type Line, LineCutter } from '../files/lines.ts'
import { type Entry, MAX_ENTRY_BYTES, type Position } from './entry.ts'
import type { Source } from './source.ts'

/** Reads lines from where an earlier import ended. Blank lines are counted and skipped. */
export async function* readNdjson(source: Source, from: Position): AsyncGenerator<Entry[]> {
  const bytes = Math.max(from.bytes, source.markBytes)
  const cutter = new LineCutter(MAX_ENTRY_BYTES, { line: from.line, bytes })
  for await (const chunk of source.chunks(from.bytes)) {
    const lines = cutter.push(chunk)
    if (lines.length > 0) yield lines.map(entryOf)
  }
  const last = cutter.finish()
  if (last.length > 0) yield last.map(entryOf)
}

function entryOf({ line, end, bytes }: Line): Entry {
  if (bytes === null) return { line, end, problem: `the record is longer than ${MAX_ENTRY_BYTES} bytes` }
  return { line, end, text: bytes }
}
