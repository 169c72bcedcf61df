/** multipart/form-data by hand, so that tests can also write what no library would. */

export interface Part {
  readonly name: string
  readonly content: string | Buffer
  readonly filename?: string
  /** Further lines of its head. */
  readonly head?: readonly string[]
}

export const BOUNDARY = 'rollcall-test-boundary'

const LINE = '\r\n'

/** The body of these parts, whole unless `ending` is something else. */
export function multipartBody(parts: readonly Part[], ending = `--${BOUNDARY}--${LINE}`): Buffer {
  const pieces = parts.flatMap(({ name, content, filename, head = [] }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`
    const lines = [`--${BOUNDARY}`, `Content-Disposition: form-data; name="${name}"${file}`, ...head, '', '']
    return [Buffer.from(lines.join(LINE)), Buffer.from(content), Buffer.from(LINE)]
  })
  return Buffer.concat([...pieces, Buffer.from(ending)])
}

/** The parts of an upload in their order; those that are null are left out. */
export function uploadParts(parts: {
  readonly action?: string | null
  readonly fileFormat?: string | null
  readonly envelope?: object | string | null
  readonly file: string | Buffer
}): Part[] {
  const { action = 'search', fileFormat = 'csv', envelope = null, file } = parts
  const text = typeof envelope === 'object' && envelope !== null ? JSON.stringify(envelope) : envelope
  const fields: [string, string | null][] = [
    ['action', action],
    ['fileFormat', fileFormat],
    ['envelope', text],
  ]
  return [
    ...fields.flatMap(([name, content]) => (content === null ? [] : [{ name, content }])),
    { name: 'fileName', content: file, filename: 'items' },
  ]
}
