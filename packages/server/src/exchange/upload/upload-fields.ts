/** The parts of an upload beside its file, as rows: their names, and how long they may be. */
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

export interface Opened {
  readonly fields: Fields
  /** The pieces of the file, which has begun, and what follows it. */
  readonly file: Parts
}

/**
 * Reads until everything that is said of the file is known. It is then read as it comes; one that stands before such a
 * part is held while it is no longer than a plain body, which is held as well.
 * @param longestHeld bytes of a file that other parts may follow
 * @throws RequestFault err.request.bad for a part that is unknown, repeated, too long or missing
 */
export async function readFields(parts: Parts, longestHeld: number): Promise<Opened> {
  const found = new Map<string, string>()
  let held: Held | null = null
  for (;;) {
    const name = await nextName(parts)
    if (name === null) break
    if (found.has(name) || (name === 'fileName' && held !== null)) throw bad(`${name}: is sent twice`)
    if (name === 'fileName') {
      held = isTold(found) ? { pieces: [], isWhole: false } : await hold(parts, longestHeld)
      if (!held.isWhole) break
    } else {
      const text = await wholePart(parts, name, LONGEST[name])
      found.set(name, name === 'envelope' ? text : text.trim())
    }
  }
  if (held === null) throw bad('fileName: the part with the file is required')
  const action = found.get('action')
  if (action === undefined) throw bad('action: is required, before a file that is long')
  const fields = { action, fileFormat: formatOf(found), envelope: found.get('envelope') ?? null }
  return { fields, file: heldAndRest(held, parts) }
}

/** What has come of a file, and whether that is all of it. */
interface Held {
  readonly pieces: readonly Buffer[]
  readonly isWhole: boolean
}

const formatOf = (found: ReadonlyMap<string, string>): string =>
  (found.get('fileFormat') ?? DEFAULT_FORMAT).toLowerCase()

/** Whether no part can come any more that says something of the file. */
const isTold = (found: ReadonlyMap<string, string>): boolean =>
  found.has('action') &&
  found.has('fileFormat') &&
  (found.has('envelope') || formatOf(found) === DEFAULT_FORMAT)

async function hold(parts: Parts, longest: number): Promise<Held> {
  const pieces: Buffer[] = []
  for (let size = 0; ; ) {
    const { value, done } = await parts.next()
    if (done === true || value.is !== 'data') return { pieces, isWhole: true }
    size += value.bytes.length
    pieces.push(value.bytes)
    if (size > longest) return { pieces, isWhole: false }
  }
}

async function* heldAndRest({ pieces, isWhole }: Held, parts: Parts): Parts {
  for (const bytes of pieces) yield { is: 'data', bytes }
  if (isWhole) yield { is: 'end' }
  else yield* parts
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
