/** The published packages, packed once in a run: the compiler of TypeScript takes long to write their declarations. */
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Packed, packAll } from '../../build/pack.ts'
import { madeOnce } from '../../packages/database/test/made-once.ts'

const LIST = 'packed.json'

/** @returns the tarballs, in the order in which they are published */
export async function packedPackages(): Promise<readonly Packed[]> {
  const folder = await madeOnce('packed', (fresh) => {
    const packed = packAll(fresh).map(({ path, manifest }) => ({ path: basename(path), manifest }))
    writeFileSync(join(fresh, LIST), JSON.stringify(packed))
  })
  const packed = JSON.parse(readFileSync(join(folder, LIST), 'utf8')) as readonly Packed[]
  return packed.map(({ path, manifest }) => ({ path: join(folder, path), manifest }))
}
