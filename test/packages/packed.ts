/** The published packages, packed once in a run: the compiler of TypeScript takes long to write their declarations. */
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { type Packed, packAll } from '../../build/pack.ts'

/** @returns the tarballs, in the order in which they are published */
export function packedPackages(): readonly Packed[] {
  const folder = join(inject('programs').folder, 'packed')
  if (!existsSync(folder)) pack(folder)
  const packed = JSON.parse(readFileSync(join(folder, LIST), 'utf8')) as readonly Packed[]
  return packed.map(({ path, manifest }) => ({ path: join(folder, path), manifest }))
}

const LIST = 'packed.json'

function pack(folder: string): void {
  const fresh = mkdtempSync(`${folder}-`)
  const packed = packAll(fresh).map(({ path, manifest }) => ({ path: path.slice(fresh.length + 1), manifest }))
  writeFileSync(join(fresh, LIST), JSON.stringify(packed))
  try {
    renameSync(fresh, folder)
  } catch (error) {
    // Another worker was faster.
    if (!existsSync(folder)) throw error
    rmSync(fresh, { recursive: true })
  }
}
