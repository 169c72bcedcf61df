/** The client as it is published: built into an empty directory beside the packages that it needs. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type BuildOptions, buildPackages } from '../../../build/build-package.ts'
import { packageAt } from '../../../build/packages.ts'

const root = resolve(import.meta.dirname, '../../..')
const THIRD_PARTIES = ['jose', 'typebox', '@noble/hashes']

/**
 * @param options such as `declarations: false` for a browser, which needs none
 * @returns a directory whose `node_modules` has the client and nothing that it does not need
 */
export function builtClient(options?: BuildOptions): { readonly place: string; remove(): void } {
  const place = mkdtempSync(join(tmpdir(), 'rollcall-client-'))
  mkdirSync(join(place, 'node_modules/@rollcall'), { recursive: true })
  mkdirSync(join(place, 'node_modules/@noble'))
  for (const name of THIRD_PARTIES) {
    symlinkSync(join(root, 'node_modules', name), join(place, 'node_modules', name))
  }
  buildPackages(join(place, 'node_modules'), ['packages/protocol', 'packages/client'].map(packageAt), options)
  writeFileSync(join(place, 'package.json'), '{"type":"module"}')
  return { place, remove: () => rmSync(place, { recursive: true }) }
}
