/** The client as it is published, in a directory of its own beside the packages that it needs. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildPackages } from '../../../build/build-package.ts'
import { packageAt } from '../../../build/packages.ts'
import { packedPackages } from '../../../test/packages/packed.ts'

const root = resolve(import.meta.dirname, '../../..')
const THIRD_PARTIES = ['jose', 'typebox', '@noble/hashes']

export interface ClientPlace {
  /** A directory whose `node_modules` has the client and nothing that it does not need. */
  readonly place: string
  remove(): void
}

/** Unpacks the published client with its declarations from tarballs. */
export async function publishedClient(): Promise<ClientPlace> {
  const packed = await packedPackages()
  return placed((modules) => {
    for (const { path, manifest } of packed.filter((one) => one.manifest.name !== 'rollcall')) {
      mkdirSync(join(modules, manifest.name))
      execFileSync('tar', ['-xzf', path, '-C', join(modules, manifest.name), '--strip-components=1'])
    }
  })
}

/** For a browser, which needs no declarations. */
export function builtClient(): ClientPlace {
  return placed((modules) => {
    buildPackages(modules, ['packages/protocol', 'packages/client'].map(packageAt), { declarations: false })
  })
}

function placed(fill: (modules: string) => void): ClientPlace {
  const place = mkdtempSync(join(tmpdir(), 'rollcall-client-'))
  const modules = join(place, 'node_modules')
  mkdirSync(join(modules, '@rollcall'), { recursive: true })
  mkdirSync(join(modules, '@noble'))
  for (const name of THIRD_PARTIES) symlinkSync(join(root, 'node_modules', name), join(modules, name))
  fill(modules)
  writeFileSync(join(place, 'package.json'), '{"type":"module"}')
  return { place, remove: () => rmSync(place, { recursive: true }) }
}
