/**
 * A table is named by the SQL of the package that it belongs to. Where other packages name it too, they are listed here: the list
 * only gets shorter, and a package that asks its owner instead leaves it.
 */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { registrySources } from './registry-side.ts'

/** The tables that more than one package names, by the package that they belong to. */
const OWNERS: Readonly<Record<string, readonly string[]>> = { delivery: ['delivery'] }

/** The packages that name tables of others: package, owner, tables. */
const FOREIGN: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  engine: { delivery: ['delivery'] },
}

const isMigration = (path: string): boolean => path.includes('/migrations/')
const migrations = globSync('packages/database/src/migrations/*.ts').map((path) => readFileSync(path, 'utf8'))
const tables = new Set(
  migrations.flatMap((text) =>
    [
      ...text.matchAll(/create table (?:if not exists )?(\w+)|createTable\('(\w+)'\)|alter table \w+ rename to (\w+)/g),
    ].map((found) => found.slice(1).find((name) => name !== undefined) ?? ''),
  ),
)

/** By table, the packages whose statements name it. */
const named = new Map<string, Set<string>>()
for (const path of registrySources.filter((source) => !isMigration(source))) {
  const text = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  for (const [, table = ''] of text.matchAll(
    /\b(?:from|join|into|update|table|lock)\s+(?:only\s+)?(?:public\.)?(\w+)\b/g,
  )) {
    if (tables.has(table)) named.set(table, (named.get(table) ?? new Set()).add(path.split('/')[1] ?? ''))
  }
}

it('reads tables and the statements that name them', () => {
  expect(tables.size).toBeGreaterThan(60)
  expect(named.size).toBeGreaterThan(60)
})

it('a table is named by one package, or listed', () => {
  const shared = [...named].filter(([, packages]) => packages.size > 1).map(([table]) => table)
  expect(shared.toSorted()).toEqual(Object.values(OWNERS).flat().toSorted())
})

it('packages name only those tables of others that are listed', () => {
  const found = Object.entries(OWNERS).flatMap(([owner, owned]) =>
    owned.flatMap((table) =>
      [...(named.get(table) ?? [])]
        .filter((other) => other !== owner)
        .map((other) => `${other} names ${table} of ${owner}`),
    ),
  )
  const listed = Object.entries(FOREIGN).flatMap(([other, owners]) =>
    Object.entries(owners).flatMap(([owner, owned]) => owned.map((table) => `${other} names ${table} of ${owner}`)),
  )
  expect(found.toSorted()).toEqual(listed.toSorted())
})
