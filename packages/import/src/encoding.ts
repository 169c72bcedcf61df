/** Converts the text of a source to UTF-8. */
import { detectEncoding } from './detect.ts'
import { ImportError, type ImportSource } from './source.ts'

/**
 * Finds the encoding of a source.
 * @param asked a label of the Encoding Standard, such as `windows-1252`; undefined: the first bytes show it
 * @returns the name of the encoding
 * @throws ImportError no such encoding exists, or none can be recognised
 */
export function findSourceEncoding({ head, mark }: ImportSource, asked: string | undefined): string {
  if (asked !== undefined) return createDecoder(asked).encoding
  return mark.encoding ?? detectEncoding(head)
}

/**
 * Converts the text of a source to UTF-8 while it is read. Reading throws an ImportError when the bytes are not in `encoding`. A
 * source in UTF-8 is returned as it is.
 */
export function convertToUtf8(source: ImportSource, encoding: string): ImportSource {
  // A UTF-8 source is not converted: each record that is no UTF-8 is rejected alone.
  if (encoding === 'utf-8') return source
  const head = source.head.subarray(source.mark.bytes)
  return {
    ...source,
    head: Buffer.from(new TextDecoder(encoding).decode(head, { stream: true })),
    mark: { bytes: 0, encoding },
    chunks: (offset) => decodeChunks(source.chunks(offset), encoding),
  }
}

/** Makes the decoder of an encoding. @throws ImportError there is no such encoding */
export function createDecoder(encoding: string) {
  try {
    return new TextDecoder(encoding, { fatal: true })
  } catch {
    throw new ImportError(`there is no encoding ${encoding}; write one such as utf-8, windows-1252 (Latin-1) or iso-8859-2`)
  }
}

async function* decodeChunks(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const decoder = createDecoder(encoding)
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
