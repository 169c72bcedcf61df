/** Writes a folder as npm packs it: a tar archive in which everything is below `package/`. */
import { createReadStream, type Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

const BLOCK = 512

/** Without the folder's own node_modules. Symbolic links are left out, since npm packages have none. */
export async function* tarOf(folder: string): AsyncGenerator<Buffer, void, void> {
  for (const name of await filesIn(folder)) {
    const path = join(folder, name)
    const { size, mode } = await stat(path)
    yield header(`package/${name}`, { size, mode })
    for await (const chunk of createReadStream(path)) yield chunk as Buffer
    yield padding(size)
  }
  yield Buffer.alloc(2 * BLOCK)
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((name) => !name.startsWith('node_modules/'))
}

/** The header of a file; a name too long for it stands in an entry of its own before it. */
function header(name: string, { size, mode }: Pick<Stats, 'size' | 'mode'>): Buffer {
  const file = block(name, { size, mode: mode & 0o777, type: '0' })
  if (Buffer.byteLength(name) < 100) return file
  const record = ` path=${name}\n`
  // The length of a record counts its own digits: these names need three.
  const text = Buffer.from(`${Buffer.byteLength(record) + 3}${record}`)
  return Buffer.concat([block('long-name', { size: text.length, mode: 0o644, type: 'x' }), text, padding(text.length), file])
}

function block(name: string, { size, mode, type }: { size: number; mode: number; type: string }): Buffer {
  const made = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`
  made.write(name.slice(0, 99), 0)
  made.write(octal(mode, 7), 100)
  made.write(octal(0, 7), 108)
  made.write(octal(0, 7), 116)
  made.write(octal(size, 11), 124)
  made.write(octal(0, 11), 136)
  made.write('        ', 148)
  made.write(type, 156)
  made.write('ustar\x0000', 257)
  const sum = made.reduce((total, byte) => total + byte, 0)
  made.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return made
}

const padding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)
