/** A source in another encoding than UTF-8, as UTF-8. */
import { ImportError } from './entry.ts'
import type { Source } from './source.ts'

/**
 * The same source with its text in UTF-8.
 * @param encoding a label of the Encoding Standard, such as `windows-1252`; undefined: UTF-8
 * @throws ImportError when there is no such encoding; while it is read, when its bytes are not in that encoding
 */
export function encodingReader(encoding = 'utf-8'): (source: Source) => Source {
  // A UTF-8 source stays as it is: each record that is not UTF-8 is rejected for itself.
  if (decoderOf(encoding).encoding === 'utf-8') return (source) => source
  return (source) => ({ ...source, chunks: (offset) => decoded(source.chunks(offset), encoding) })
}

function decoderOf(encoding: string) {
  try {
    return new TextDecoder(encoding, { fatal: true })
  } catch {
    throw new ImportError(
      `there is no encoding ${encoding}; write one such as utf-8, windows-1252 (Latin-1) or iso-8859-2`,
    )
  }
}

async function* decoded(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const decoder = decoderOf(encoding)
  const decode = (chunk?: Buffer): Buffer => {
    try {
      return Buffer.from(chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true }))
    } catch {
      throw new ImportError(`the file is not in the encoding ${encoding}; name its encoding with --encoding`)
    }
  }
  for await (const chunk of chunks) yield decode(chunk)
  const last = decode()
  if (last.length > 0) yield last
}
