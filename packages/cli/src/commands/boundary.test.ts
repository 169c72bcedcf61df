/** The command line is no second application on the database: what a command does is a function of the package admin. */
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Where the files of the command line are. */
const ROOT = join(import.meta.dirname, '..')

/** Packages that every file may use: what an operator does, the settings, and those of no side. */
const FREE = /^(?:admin|settings|protocol|client|synthetic)(?:\/|$)/

/** Uses of another package by some files. A name after `type` is no code: it loads nothing. */
interface Use {
  readonly face: string
  readonly names: readonly string[]
  readonly files: readonly string[]
  readonly reason: string
}
const USES: readonly Use[] = [
  {
    face: 'base/shared/message-words',
    names: ['nearestNameHint'],
    files: ['commands/registry-change.ts', 'commands/simulate.ts', 'machine/answers.ts'],
    reason: 'a word that is no known name is answered with the nearest one',
  },
  {
    face: 'base/shared/loopback',
    names: ['isLoopback'],
    files: ['commands/serve.ts', 'commands/demo-run.ts', 'demo/switches.ts'],
    reason: 'two refuse or change the address that the environment names, and the page of the demo is for this machine alone',
  },
  {
    face: 'base/shared/yaml-text',
    names: ['yamlMember', 'yamlName'],
    files: ['mapping-text.ts'],
    reason: 'a proposed mapping is a file in YAML, as a proposed source file is',
  },
  {
    face: 'base/shared/message-words',
    names: ['countWithNoun'],
    files: ['output.ts'],
    reason: 'a number with its noun is written in one way in all messages',
  },
  {
    face: 'base/shared/system-error',
    names: ['systemReason'],
    files: [
      'asking/demo.ts',
      'commands/audit-check.ts',
      'commands/generate.ts',
      'commands/mapping.ts',
      'input.ts',
      'new-file.ts',
    ],
    reason: 'a file that cannot be read or written is refused with the reason of the system, as imports refuse it',
  },
  {
    face: 'base/shared/data-directory',
    names: ['makeDataDirectory'],
    files: ['demo/demo-file.ts'],
    reason: 'demo.json lies in that folder',
  },
  {
    face: 'database/database',
    names: ['checkSchema'],
    files: ['environment.ts', 'commands/serve.ts'],
    reason: 'tables of another version are refused before any function reads them',
  },
  {
    face: 'database/schema-version',
    names: ['knownSchemaVersions'],
    files: ['commands/upgrade.ts'],
    reason: 'it goes one version of the tables at a time',
  },
  {
    face: 'database/database-errors',
    names: ['isUnavailable', 'safeDatabaseError'],
    files: ['failure.ts'],
    reason: 'a failure is told without the data of a statement',
  },
  {
    face: 'database/embedded/files',
    names: ['clusterPaths'],
    files: ['environment.ts'],
    reason: 'a command looks whether there is an embedded database, without making one',
  },
  {
    face: 'database/database',
    names: ['type Database'],
    files: [
      ...['environment.ts', 'listen.ts', 'commands/serve.ts', 'commands/demo-run.ts'],
      ...['demo/credentials.ts', 'demo/demo-file.ts'],
    ],
    reason: 'it is handed on to admin functions',
  },
  {
    face: 'core/model/registry',
    names: ['type Registry'],
    files: ['commands/demo-run.ts', 'demo/demo-file.ts'],
    reason: 'the demo describes its registries',
  },
  {
    face: 'core/model/participant',
    names: ['type Participant'],
    files: ['demo/credentials.ts'],
    reason: 'the demo describes its participants',
  },
  { face: 'keys/vault', names: ['type Vault'], files: ['environment.ts'], reason: 'admin functions are given it' },
  { face: 'observe/log', names: ['createLog', 'type Log'], files: ['listen.ts'], reason: 'a server has a log' },
  { face: 'server/app/context', names: ['createContext'], files: ['listen.ts'], reason: 'the one place that starts a server' },
  {
    face: 'server/app/serve',
    names: ['startServer', 'ListenFailed', 'type ListenerName', 'type RunningServer'],
    files: ['listen.ts'],
    reason: 'the one place that starts a server',
  },
  {
    face: 'server/http/showcase',
    names: ['type DemoContent'],
    files: ['demo/showcase.ts'],
    reason: 'the start page of a demo has its addresses',
  },
]

/** A use as one line. */
const lineOf = (file: string, face: string, name: string): string => `${file} uses ${name} of ${face}`

/** The names that a file takes from our packages, at its start or later, such as `type Database`. */
async function usesOf(file: string): Promise<readonly { readonly face: string; readonly line: string }[]> {
  const source = await readFile(join(ROOT, file), 'utf8')
  const imports = [
    ...source.matchAll(/import (type )?\{([^}]*)\} from '@rollcall\/([^']*)'/g),
    ...source.matchAll(/const ()\{([^}]*)\} = await import\('@rollcall\/([^']*)'\)/g),
  ]
  const found = imports.flatMap(([, allTypes, list = '', face = '']) =>
    list
      .split(',')
      .map((part) => part.trim().replace(/ as \w+$/, ''))
      .filter((part) => part !== '')
      .map((part) => ({ face, line: lineOf(file, face, allTypes ? `type ${part}` : part) })),
  )
  // No mention of a package is overlooked.
  const mentions = [...source.matchAll(/'@rollcall\/([^']*)'/g)].map(([, face = '']) => face)
  expect(mentions.filter((face) => !FREE.test(face)).length).toBe(imports.filter(([, , , face = '']) => !FREE.test(face)).length)
  expect(source).not.toMatch(/'[^']*\/src\//)
  return found
}

const files = (await readdir(ROOT, { recursive: true })).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
const used = (await Promise.all(files.map(usesOf))).flat().filter(({ face }) => !FREE.test(face))

test('the command line uses admin functions, the settings, and what is named here with its reason', () => {
  const named = USES.flatMap(({ face, names, files }) => files.flatMap((file) => names.map((name) => lineOf(file, face, name))))
  expect(used.map(({ line }) => line).toSorted()).toEqual(named.toSorted())
})

test('no command imports SQL', () => {
  const SQL = /(?:^|\/)store\/|^records\/|^database\//
  const found = USES.filter(({ face }) => SQL.test(face)).flatMap(({ names }) => names)
  const values = found.filter((name) => !name.startsWith('type '))
  // These know a version, codes of errors and a folder: no statement passes through them.
  expect(values.toSorted()).toEqual(['checkSchema', 'clusterPaths', 'isUnavailable', 'knownSchemaVersions', 'safeDatabaseError'])
  const sources = files.map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))
  expect(sources.filter(({ text }) => /\bpool\.query\b|\bkysely\b|from 'pg'/.test(text))).toEqual([])
})

/**
 * Functions of the package admin that commands call and that are no admin functions: none writes, so none waits for a
 * second operator.
 */
const HELPERS = [
  ...['changeableStates', 'delimiterName', 'judgeFacts', 'describeGrant', 'okResult', 'openRecordFile'],
  ...[
    'brokenResult',
    'databaseFacts',
    'listRecordTypesToBackfill',
    'requireOperatorOfToken',
    'parseSchedule',
    'readSettingFacts',
    'weakResult',
  ],
]

/** Functions by which the demo starts, and by which a database is either a demo's or a production's: no operator calls them. */
const DEMO = [...['fillEmptyRegistries', 'refuseDemoData', 'refuseRealData', 'refuseSecondDemo', 'refuseToAddToDemo']]

test('what a command does is an admin function, which says whether it waits for a second operator', async () => {
  const sources = (await readdir(`${import.meta.dirname}/..`, { recursive: true })).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('demo/'),
  )
  const found = new Set<string>()
  for (const file of sources) {
    const source = await readFile(`${import.meta.dirname}/../${file}`, 'utf8')
    for (const { from, names } of adminNames(source)) {
      const room: Readonly<Record<string, unknown>> = await import(/* @vite-ignore */ from)
      for (const name of names) {
        const value = room[name]
        if (typeof value === 'function' && !('act' in value)) found.add(name)
      }
    }
  }
  expect([...found].toSorted()).toEqual([...HELPERS, ...DEMO].toSorted())
})

/** The names that a source imports from the package admin, at its start or later, as in `(await grants()).listGrants`. */
function adminNames(source: string): readonly { readonly from: string; readonly names: readonly string[] }[] {
  const namesIn = (list: string) => [...list.matchAll(/(?:^|,)\s*(?!type )(\w+)/g)].map(([, name = '']) => name)
  const first = [...source.matchAll(/import \{([^}]*)\} from '(@rollcall\/admin\/[^']*)'/g)]
  const loaders = [...source.matchAll(/const (\w+) = \(\) => import\('(@rollcall\/admin\/[^']*)'\)/g)]
  const later = (call: string) => [...source.matchAll(new RegExp(`await ${call}\\)\\s*\\.(\\w+)`, 'g'))]
  const direct = [...new Set([...source.matchAll(/import\('(@rollcall\/admin\/[^']*)'\)/g)].map(([, from = '']) => from))]
  return [
    ...first.map(([, list = '', from = '']) => ({ from, names: namesIn(list) })),
    ...loaders.map(([, name, from = '']) => ({ from, names: later(`${name}\\(\\)`).map(([, used = '']) => used) })),
    ...direct.map((from) => ({ from, names: later(`import\\('${from}'\\)`).map(([, used = '']) => used) })),
  ]
}
