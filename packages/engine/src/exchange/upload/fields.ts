/** The parts of an upload beside its file, called fields: their names and lengths. */
import { RequestFault } from '@rollcall/protocol'
import { badRequestFault, type PartEvents, readPartPieces } from './multipart.ts'

/** The fields of an upload, which are its parts beside the file, as texts. */
export interface UploadFields {
  readonly action: string
  readonly fileFormat: string
  /** The JSON text of the envelope for a file of items; null when there is no such part. */
  readonly envelope: string | null
}

/** The field by the name of its part. Other servers use other names for some fields (N8); these are accepted too. */
const FIELD_BY_PART_NAME: Readonly<Record<string, 'action' | 'fileFormat' | 'envelope' | 'fileName'>> = {
  action: 'action',
  fileFormat: 'fileFormat',
  file_format: 'fileFormat',
  envelope: 'envelope',
  fileName: 'fileName',
  file: 'fileName',
}

const MOST_FIELD_BYTES = { action: 256, fileFormat: 256, envelope: 65_536 } as const

const DEFAULT_FORMAT = 'json'

/** The fields of an upload, which have been read, and its file, which is read next. */
export interface FieldsAndUnreadFile {
  readonly fields: UploadFields
  /** The pieces of the file, and then the parts of the upload that were not read yet. */
  readonly file: PartEvents
}

/**
 * Reads the fields before the file. If the file comes before a field, it is kept in memory until all fields have arrived.
 * @param bufferBytes the most bytes of such a file: a longer one must come after the fields
 * @throws RequestFault err.request.bad: a part is unknown, repeated, too long or missing
 */
export async function readFields(parts: PartEvents, bufferBytes: number): Promise<FieldsAndUnreadFile> {
  const found = new Map<string, string>()
  let file: BufferedFile | null = null
  for (;;) {
    const name = await readNextFieldName(parts)
    if (name === null) break
    if (found.has(name) || (name === 'fileName' && file !== null)) throw badRequestFault(`${name}: is sent twice`)
    if (name === 'fileName') {
      file = hasRequiredFields(found) ? { pieces: [], isWhole: false } : await bufferFile(parts, bufferBytes)
      if (!file.isWhole) break
    } else {
      const text = await readWholePart(parts, name, MOST_FIELD_BYTES[name])
      found.set(name, name === 'envelope' ? text : text.trim())
    }
  }
  if (file === null) throw badRequestFault('fileName: the part with the file is required')
  const action = found.get('action')
  if (action === undefined) throw badRequestFault('action: is required, before a file that is long')
  const fields = { action, fileFormat: fileFormatOf(found), envelope: found.get('envelope') ?? null }
  return { fields, file: bufferedFileAndRest(file, parts) }
}

/** The pieces of a file that are in memory, and whether they are the whole file. */
interface BufferedFile {
  readonly pieces: readonly Buffer[]
  readonly isWhole: boolean
}

const fileFormatOf = (found: ReadonlyMap<string, string>): string => (found.get('fileFormat') ?? DEFAULT_FORMAT).toLowerCase()

/** True when action and fileFormat have arrived, and for another format than json also the envelope. */
const hasRequiredFields = (found: ReadonlyMap<string, string>): boolean =>
  found.has('action') && found.has('fileFormat') && (found.has('envelope') || fileFormatOf(found) === DEFAULT_FORMAT)

/** Reads the file into memory. Stops after the piece that passes `maxBytes`; then `isWhole` is false. */
async function bufferFile(parts: PartEvents, maxBytes: number): Promise<BufferedFile> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of readPartPieces(parts)) {
    size += piece.length
    pieces.push(piece)
    if (size > maxBytes) return { pieces, isWhole: false }
  }
  return { pieces, isWhole: true }
}

async function* bufferedFileAndRest({ pieces, isWhole }: BufferedFile, parts: PartEvents): PartEvents {
  for (const bytes of pieces) yield { is: 'data', bytes }
  if (isWhole) yield { is: 'end' }
  else yield* parts
}

/** Checks that no part follows the file. @throws RequestFault err.request.bad */
export async function checkEndOfParts(parts: PartEvents): Promise<void> {
  if ((await readNextFieldName(parts)) !== null) throw badRequestFault('fileName: must be the last part, and the only file')
}

async function readNextFieldName(parts: PartEvents): Promise<(typeof FIELD_BY_PART_NAME)[string] | null> {
  const { value, done } = await parts.next()
  if (done === true) return null
  const name = value.is === 'part' && value.name !== null ? findFieldName(value.name) : undefined
  if (name === undefined) {
    throw badRequestFault('body: has a part that is none of action, fileFormat, envelope and fileName')
  }
  return name
}

const findFieldName = (name: string) => (Object.hasOwn(FIELD_BY_PART_NAME, name) ? FIELD_BY_PART_NAME[name] : undefined)

/** A byte order mark stays in the text, so that an envelope with one is refused as in a plain body. */
const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads the current part as text. @throws RequestFault 413 above `maxBytes`, 400 it is not UTF-8 */
export async function readWholePart(parts: PartEvents, name: string, maxBytes: number): Promise<string> {
  const { pieces, isWhole } = await bufferFile(parts, maxBytes)
  if (!isWhole) throw new RequestFault('err.request.bad', `${name}: must be at most ${maxBytes} bytes`, 413)
  try {
    return utf8Decoder.decode(Buffer.concat(pieces))
  } catch {
    throw badRequestFault(`${name}: must be UTF-8`)
  }
}
