import type { ImportSource, SourceEntry } from '@rollcall/import/source'

/** Bytes of the beginning that are looked at, as of a stream. */
const HEAD_BYTES = 64 * 1024

/** A source in memory, in chunks of so many bytes. */
export function memorySource(content: string | Buffer, chunkBytes = 64 * 1024): ImportSource {
  const bytes = Buffer.from(content)
  return {
    totalBytes: bytes.length,
    identity: null,
    changed: null,
    head: bytes.subarray(0, HEAD_BYTES),
    mark: { bytes: 0, encoding: null },
    async *chunks(offset) {
      for (let at = offset; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
    },
    close: async () => undefined,
  }
}

/** All that a reader yields, with texts as strings. */
export async function collect(groups: AsyncIterable<SourceEntry[]>): Promise<object[]> {
  const entries: object[] = []
  for await (const group of groups) {
    for (const entry of group) entries.push('text' in entry ? { ...entry, text: entry.text.toString() } : entry)
  }
  return entries
}

export const START = { bytes: 0, line: 0, entries: 0 }
