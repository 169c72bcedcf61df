/** The command line is no second application on the database: what a command does is a function of the package admin. */
import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

/** What a command may take from the server beside admin functions: configuration, and opening a database. */
const CONFIGURATION = [
  ...[
    'Config',
    'databaseName',
    'judgedFiles',
    'masterKeyFile',
    'masterKeySource',
    'openStorage',
    'settingsOf',
  ],
]

/** Packages of no side: the protocol, the client and the made-up population. */
const SHARED = /^@rollcall\/(?:protocol|client|synthetic)\b/

/** What names the nearest of known names, for a word that is none of them. */
const MESSAGES = ['nearestHint']

/** What starting a server, or one part of it, needs. */
const STARTING: Readonly<Record<string, readonly string[]>> = {
  'serve.ts': [
    ...[
      'baseUrl',
      'checkSchema',
      'Database',
      'isLoopback',
      'listenerUrl',
      'listRegistries',
      'ROLES',
      'Role',
      'reachNote',
      'Storage',
    ],
  ],
  'participant-link.ts': ['baseUrl'],
  'demo.ts': [
    ...['baseUrl', 'becomeOnlyDemo', 'Database', 'isLoopback', 'listenerUrl', 'openVault', 'Registry'],
  ],
}

const files = (await readdir(import.meta.dirname)).filter((name) => !name.endsWith('.test.ts'))

test.each(files)('%s', async (name) => {
  const source = await readFile(`${import.meta.dirname}/${name}`, 'utf8')
  const imports = [
    ...source.matchAll(/import (?:type )?\{([^}]*)\} from '((?:@rollcall\/|[^']*\/src\/)[^']*)'/g),
  ].filter(([, , from = '']) => !SHARED.test(from))
  const others = imports.filter(([, , from = '']) => !from.startsWith('@rollcall/admin/'))
  expect(others.filter(([, , from]) => from !== '@rollcall/server')).toEqual([])
  const names = others.flatMap(([, list = '']) =>
    list.split(',').map((part) => part.trim().replace(/^type /, '')),
  )
  const allowed = [...CONFIGURATION, ...MESSAGES, ...(STARTING[name] ?? [])]
  expect(names.filter((word) => word !== '' && !allowed.includes(word))).toEqual([])
  // Every mention of a package was looked at.
  const mentions = [...source.matchAll(/'(@rollcall\/[^']*)'|\/src\//g)]
  expect(mentions.filter(([, from = '']) => !SHARED.test(from)).length).toBe(imports.length)
})

/** What commands call of the admin room that is no admin function: none of it writes, so none could wait for a second operator. */
const HELPERS = [
  ...['changeableStates', 'delimiterName', 'findings', 'grantWords', 'ok', 'openRecordFile'],
  ...['broken', 'databaseFacts', 'operatorWithToken', 'parseSchedule', 'settingFacts'],
]

test('what a command does is an admin function, which says whether it waits for a second operator', async () => {
  const sources = (await readdir(`${import.meta.dirname}/..`, { recursive: true })).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('demo/'),
  )
  const found = new Set<string>()
  for (const file of sources) {
    const source = await readFile(`${import.meta.dirname}/../${file}`, 'utf8')
    for (const [, list = '', from = ''] of source.matchAll(
      /import \{([^}]*)\} from '(@rollcall\/admin\/[^']*)'/g,
    )) {
      const room: Readonly<Record<string, unknown>> = await import(/* @vite-ignore */ from)
      for (const [, name = ''] of list.matchAll(/(?:^|,)\s*(?!type )(\w+)/g)) {
        const value = room[name]
        if (typeof value === 'function' && !('approval' in value)) found.add(name)
      }
    }
  }
  expect([...found].toSorted()).toEqual(HELPERS.toSorted())
})
