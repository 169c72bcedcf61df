/** A table is named by the SQL of the package that it belongs to. Where another package names it too, a row here says why. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { registrySources } from './registry-side.ts'

const OUTBOX_SCHEMA = 'a schema of its own, whose name is needed for the catalog of the database'

/** Who names a table of another package, and why. The list only gets shorter. */
const FOREIGN: Readonly<Record<string, string>> = {
  'admin names master_key': 'it names no table: a setting of doctor is called so',
  'participants names consent_withdrawal':
    'a participant that is added takes over what its sender_id had before, in one transaction',
  'database names rollcall_outbox': OUTBOX_SCHEMA,
  'backup names rollcall_outbox': OUTBOX_SCHEMA,
  'backup names sign_in_link': 'the list of tables that a backup leaves out has it, with the reason',
}

const isMigration = (path: string): boolean => path.includes('/migrations/')
const migrations = globSync('packages/database/src/migrations/*.ts').map((path) => readFileSync(path, 'utf8'))
const tables = new Set(
  migrations.flatMap((text) =>
    [...text.matchAll(/create table (?:if not exists )?(\w+)|createTable\('(\w+)'\)|alter table \w+ rename to (\w+)/g)].map(
      (found) => found.slice(1).find((name) => name !== undefined) ?? '',
    ),
  ),
)

/** The name after a keyword of SQL, in a list after one, or in a row of a list of tables. */
const STATEMENTS = [
  /\b(?:from|join|into|update|table|lock|using)\s+(?:only\s+)?(?:public\.)?(\w+)\b/g,
  /\b(?:from|using)\s+\w+(?:\s+as\s+\w+)?,\s*(\w+)\b/g,
  /\btable: '(\w+)/g,
]
const LITERALS = /`[^`]*`|'[^'\n]*'/g

/** Names with an underscore are no words: they count wherever they stand in a literal, such as in a list of tables. */
const namedIn = (text: string): readonly string[] => [
  ...STATEMENTS.flatMap((statement) => [...text.matchAll(statement)].map(([, table = '']) => table)),
  ...[...text.matchAll(LITERALS)].flatMap(([literal]) => literal.match(/\b\w+_\w+\b/g) ?? []),
]

/** By table, the packages whose sources name it. */
const named = new Map<string, Set<string>>()
for (const path of registrySources.filter((source) => !isMigration(source))) {
  const text = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  for (const table of namedIn(text)) {
    if (tables.has(table)) named.set(table, (named.get(table) ?? new Set()).add(path.split('/')[1] ?? ''))
  }
}

it('reads tables and the statements that name them', () => {
  expect(tables.size).toBeGreaterThan(60)
  expect(named.size).toBeGreaterThan(60)
})

it('a table is named by one package; who else names it is listed with the reason', () => {
  const shared = [...named].map(([table, packages]) => {
    const unlisted = [...packages].filter((name) => FOREIGN[`${name} names ${table}`] === undefined)
    return unlisted.length === 1 ? [] : [`${table}: ${unlisted.toSorted().join(', ')}`]
  })
  expect(shared.flat()).toEqual([])
})

it('nothing is listed that does not name the table, or without a reason', () => {
  const found = [...named].flatMap(([table, packages]) => [...packages].map((name) => `${name} names ${table}`))
  expect(Object.keys(FOREIGN).filter((entry) => !found.includes(entry))).toEqual([])
  expect(Object.entries(FOREIGN).filter(([, reason]) => reason.split(' ').length < 5)).toEqual([])
})
