/** The main entry is for browsers, too: nothing that it loads is of Node. */
import { existsSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const packages = resolve(import.meta.dirname, '../..')
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'([^',\s]+)'/g

/** Every file and package that is reached from a file, by whatever kind of import. */
function reached(entry: string): { files: Set<string>; modules: Set<string> } {
  const files = new Set<string>()
  const modules = new Set<string>()
  const visit = (file: string): void => {
    if (files.has(file)) return
    files.add(file)
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      if (name.startsWith('.')) visit(join(dirname(file), name))
      else if (name === '@rollcall/protocol') visit(join(packages, 'protocol/src/index.ts'))
      else modules.add(name)
    }
  }
  visit(entry)
  return { files, modules }
}

it('the main entry loads no module of Node, and no package but those of the protocol', () => {
  const { files, modules } = reached(join(packages, 'client/src/index.ts'))
  expect(files.size).toBeGreaterThan(60)
  expect([...modules].filter((name) => isBuiltin(name))).toEqual([])
  const names = [...modules].map((name) =>
    name
      .split('/')
      .slice(0, name.startsWith('@') ? 2 : 1)
      .join('/'),
  )
  expect([...new Set(names)].toSorted()).toEqual(['@noble/hashes', 'jose', 'typebox'])
})

it('the entry for Node loads nothing but Node', () => {
  const { modules } = reached(join(packages, 'client/src/node/index.ts'))
  expect([...modules]).toEqual(['node:http'])
})

it('both entries exist', () => {
  const { exports } = JSON.parse(readFileSync(join(packages, 'client/package.json'), 'utf8'))
  const entries = Object.values(exports as Record<string, string>)
  expect(entries.filter((entry) => !existsSync(join(packages, 'client', entry)))).toEqual([])
  expect(entries).toHaveLength(2)
})
