/** Records are read and written through what a registry opens: nobody above the package records passes its port by. */
import { globSync, readFileSync } from 'node:fs'
import { OWN_TABLES_SINK } from '@rollcall/records/records/record-sink'
import { expect, it } from 'vitest'
import { registrySources } from './registry-side.ts'

/** Names of record tables, and functions that read and write them without the port. */
const BEHIND = [
  ...['recordTable', 'recordTableName', 'tableNames', 'declaredIndexes', 'indexStatement'],
  ...['ownRecords', 'readerIn', 'OWN_SINK', 'mirroredRecords', ...Object.keys(OWN_TABLES_SINK)],
]

/** The follower of a source writes the copy, and nothing else does. */
const FOLLOWING = ['packages/source/src/mirror/apply-rows.ts imports mirroredRecords']

/** Functions and values that a source imports from records, and from where the names of record tables are made; types are nobody's secret. */
const importsOf = (source: string): readonly string[] =>
  [
    ...readFileSync(source, 'utf8').matchAll(
      /\b(?:import|export) (?!type\b)\{([^}]*)\} from '@rollcall\/(?:records\/[^']+|database\/names)'/g,
    ),
  ].flatMap(([, names = '']) =>
    names
      .split(',')
      .map((name) => name.trim().split(' as ')[0] ?? '')
      .filter((name) => name !== '' && !name.startsWith('type ')),
  )

const above = [...registrySources, ...globSync('packages/cli/src/**/*.ts')].filter(
  (path) => !/^packages\/(?:records|database)\//.test(path) && !path.endsWith('.test.ts'),
)
const imported = above.flatMap((source) => importsOf(source).map((name) => ({ source, name })))

it('reads what is imported', () => {
  expect(imported.filter(({ name }) => name === 'recordsOf').length).toBeGreaterThan(8)
  expect(imported.filter(({ name }) => name === 'requireSink').length).toBeGreaterThan(3)
})

it('no source above names a record table, or reads and writes one without asking for the records of its registry', () => {
  const passing = imported.filter(({ name }) => BEHIND.includes(name))
  expect(passing.map(({ source, name }) => `${source} imports ${name}`)).toEqual(FOLLOWING)
})

it('no source above has the name of a record table in its SQL', () => {
  const named = above.filter((source) => /`[^`]*\br(?:\d+|\$\{[^}]*\})_\w|'r' \|\|/.test(readFileSync(source, 'utf8')))
  expect(named).toEqual([])
})
