/**
 * The files of a release: the tarballs, the Debian package, a software bill of materials for each tarball, and checksums.
 *
 *   npm run pack   # those of the version of package.json, in dist/pack; nothing else is changed
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { manifestOf } from './build-package.ts'
import { root } from './compile.ts'
import { writeDebianPackage } from './debian.ts'
import { type Packed, packAll } from './pack.ts'
import { writeBillsOfMaterials } from './sbom.ts'

const SUMS = 'SHA256SUMS'

/**
 * @param out a folder, whose files are replaced
 * @param notes more files, by their names
 * @returns the tarballs, in the order in which they are published
 */
export function writeReleaseFiles(out: string, version: string, notes: Readonly<Record<string, string>> = {}): readonly Packed[] {
  rmSync(out, { recursive: true, force: true })
  const tarballs = packAll(out, version)
  writeBillsOfMaterials(out, version)
  if (writeDebianPackage(out, version) === null) say('No Debian package: it is made on Linux, with dpkg-deb.')
  for (const [name, text] of Object.entries(notes)) writeFileSync(join(out, name), text)
  writeChecksums(out)
  say(`${relative(root, out)}:`, ...readdirSync(out).map((name) => `  ${name}`))
  return tarballs
}

/** Writes the checksums in the form that `sha256sum --check SHA256SUMS` reads. */
function writeChecksums(out: string): void {
  const lines = readdirSync(out)
    .toSorted()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(out, name)))
          .digest('hex')}  ${name}\n`,
    )
  writeFileSync(join(out, SUMS), lines.join(''))
}

export const say = (...lines: string[]): void => void process.stdout.write(`${lines.join('\n')}\n`)

if (import.meta.main) writeReleaseFiles(join(root, 'dist/pack'), manifestOf('.').version)
