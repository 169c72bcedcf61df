/** Tarballs of the packages that are published, as `npm publish` takes them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPackages } from './build-package.ts'
import type { Manifest } from './versions.ts'

export interface Packed {
  readonly path: string
  /** The package.json in it. */
  readonly manifest: Manifest
}

/**
 * @param out receives the tarballs
 * @param version instead of that of the workspace
 * @returns the tarballs, in the order in which they are published
 */
export function packAll(out: string, version?: string): readonly Packed[] {
  mkdirSync(out, { recursive: true })
  const stage = mkdtempSync(join(tmpdir(), 'rollcall-pack-'))
  try {
    return [...buildPackages(stage, undefined, { version }).values()].map((directory) => {
      const printed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', out], {
        cwd: directory,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const [{ filename }] = JSON.parse(printed) as [{ filename: string }]
      const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest
      return { path: join(out, filename), manifest }
    })
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}
