/** The files of the workspace in which the version stands. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './compile.ts'
import { lockWithVersion, type Manifest, withVersion } from './versions.ts'

const read = (name: string): unknown => JSON.parse(readFileSync(join(root, name), 'utf8'))

/** @returns the text that each of them has with this version, by its path in the workspace */
export function workspaceFiles(version: string): ReadonlyMap<string, string> {
  const { workspaces } = read('package.json') as { workspaces: readonly string[] }
  const manifests = ['.', ...workspaces].map((directory) => join(directory, 'package.json'))
  const lock = read('package-lock.json') as Parameters<typeof lockWithVersion>[0]
  const texts = [
    ...manifests.map((name) => [name, withVersion(read(name) as Manifest, version)] as const),
    ['package-lock.json', lockWithVersion(lock, version)] as const,
  ]
  return new Map(texts.map(([name, value]) => [name, `${JSON.stringify(value, null, 2)}\n`]))
}
