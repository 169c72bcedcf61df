/** The parts of an upload that stand before its file, as rows: their names, and how long they may be. */
import { RequestFault } from '@rollcall/protocol'
import type { PartEvent } from './multipart.ts'

type Parts = AsyncGenerator<PartEvent, void, void>

export interface Fields {
  readonly action: string
  readonly fileFormat: string
  /** Header and signature of a file that has none in it. */
  readonly envelope: string | null
}

/** By name; the aliases are those of servers that are around (N8). */
const NAMES: Readonly<Record<string, 'action' | 'fileFormat' | 'envelope' | 'fileName'>> = {
  action: 'action',
  fileFormat: 'fileFormat',
  file_format: 'fileFormat',
  envelope: 'envelope',
  fileName: 'fileName',
  file: 'fileName',
}

/** Bytes */
const LONGEST = { action: 256, fileFormat: 256, envelope: 65_536 } as const

const DEFAULT_FORMAT = 'json'

/**
 * Reads up to where the file begins: it comes last, so that it can be read as it comes.
 * @throws RequestFault err.request.bad for a part that is unknown, repeated, too long or missing
 */
export async function readFields(parts: Parts): Promise<Fields> {
  const found = new Map<string, string>()
  for (;;) {
    const name = await nextName(parts)
    if (name === null) throw bad('fileName: the part with the file is required')
    if (name === 'fileName') break
    if (found.has(name)) throw bad(`${name}: is sent twice`)
    const text = await wholePart(parts, name, LONGEST[name])
    found.set(name, name === 'envelope' ? text : text.trim())
  }
  const action = found.get('action')
  if (action === undefined) throw bad('action: is required, before fileName')
  return {
    action,
    fileFormat: (found.get('fileFormat') ?? DEFAULT_FORMAT).toLowerCase(),
    envelope: found.get('envelope') ?? null,
  }
}

/** Nothing may follow. @throws RequestFault err.request.bad */
export async function theEnd(parts: Parts): Promise<void> {
  if ((await nextName(parts)) !== null) throw bad('fileName: must be the last part, and the only file')
}

async function nextName(parts: Parts): Promise<(typeof NAMES)[string] | null> {
  const { value, done } = await parts.next()
  if (done === true) return null
  const name = value.is === 'part' && value.name !== null ? ownName(value.name) : undefined
  if (name === undefined) {
    throw bad('body: has a part that is none of action, fileFormat, envelope and fileName')
  }
  return name
}

const ownName = (name: string) => (Object.hasOwn(NAMES, name) ? NAMES[name] : undefined)

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The part that has begun, as text. @throws RequestFault 413 when it is longer, 400 when it is no UTF-8 */
export async function wholePart(parts: Parts, name: string, longest: number): Promise<string> {
  const pieces: Buffer[] = []
  for (let size = 0; ; ) {
    const { value, done } = await parts.next()
    if (done === true || value.is !== 'data') break
    size += value.bytes.length
    if (size > longest) {
      throw new RequestFault('err.request.bad', `${name}: must be at most ${longest} bytes`, 413)
    }
    pieces.push(value.bytes)
  }
  try {
    return utf8.decode(Buffer.concat(pieces))
  } catch {
    throw bad(`${name}: must be UTF-8`)
  }
}

const bad = (message: string): RequestFault => new RequestFault('err.request.bad', message)
