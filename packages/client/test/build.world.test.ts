/** The published package: built into an empty directory, it runs as plain JavaScript and brings its types. */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publishedClient } from './built.ts'
import { finding, type Loopback, loopback } from './loopback.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../../..')
const modules = join(root, 'node_modules')

let place: string
let remove: () => void
let registry: Loopback

beforeAll(async () => {
  const built = await publishedClient()
  place = built.place
  remove = built.remove
  registry = await loopback([finding([{ name: 'Ada' }])])
})
afterAll(async () => {
  await registry.close()
  remove()
})

const APP = `
import { identifier, Receiver, RegistryClient } from '@rollcall/client'
import { nodeListener } from '@rollcall/client/node'

const client = new RegistryClient({
  base_url: process.argv[2],
  sender_id: 'sp.example',
  credentials: { client_id: 'id', client_secret: 'secret' },
  peer: { signature: 'off' },
})
const record = await client.searchOne(identifier('UIN', '0012'))
const listener = nodeListener(new Receiver({ peers: [], receiver_id: 'sp.example' }))
console.log(JSON.stringify({ record, listener: typeof listener }))
`

it.each([
  ['22', join(root, 'packages/client/node_modules/node/bin/node')],
  ['24', process.execPath],
])('searches from JavaScript under Node %s, with no TypeScript loaded', async (major, node) => {
  expect((await run(node, ['--version'])).stdout).toMatch(`v${major}.`)
  writeFileSync(join(place, 'app.js'), APP)
  const options = ['--no-experimental-strip-types', join(place, 'app.js'), registry.base_url]
  const { stdout, stderr } = await run(node, options)
  expect(JSON.parse(stdout)).toEqual({ record: { name: 'Ada' }, listener: 'function' })
  expect(stderr).toBe('')
})

describe('its declarations', () => {
  /** The faults of these programs, by the name of their files. */
  const check = async (name: string, sources: Readonly<Record<string, string>>, types: readonly string[]) => {
    const directory = join(place, name)
    mkdirSync(directory)
    const files = Object.keys(sources)
    for (const [file, source] of Object.entries(sources)) writeFileSync(join(directory, file), source)
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      target: 'es2024',
      module: 'nodenext',
      lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
      types,
      typeRoots: [join(modules, '@types')],
    }
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const tsc = join(modules, 'typescript/bin/tsc')
    const outcome = run(process.execPath, [tsc, '-p', directory])
    return outcome.then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    )
  }

  it('suffice for a program for browsers, library check and all, and find what is wrong', async () => {
    const good = `
      import { identifier, itemsOrThrow, RegistryClient, resultsOf } from '@rollcall/client'
      const client = new RegistryClient({ base_url: 'https://registry.example/civil/v1.0.0', sender_id: 'sp' })
      const answer = await client.search(identifier('UIN', '0012'))
      export const records: object[] | undefined = itemsOrThrow(answer)[0]?.data?.reg_records
      export const codes: string[] = resultsOf(answer).flatMap((one) => (one.ok ? [] : [one.rejection.code]))
    `
    const bad = `
      import { identifier, RegistryClient } from '@rollcall/client'
      const client = new RegistryClient({ base_url: 'https://registry.example/civil/v1.0.0', sender_id: 'sp' })
      export const answer: number = await client.search(identifier('UIN', 12))
    `
    const problems = await check('browsers', { 'good.ts': good, 'bad.ts': bad }, [])
    // Lines with more of a problem begin with spaces.
    const places = problems.match(/^\S.*?: error /gm) ?? []
    expect(places.map((place) => place.replace(/.*\//, '').replace(/\(.*/s, ''))).toEqual(['bad.ts', 'bad.ts'])
    expect(problems).toContain("Type 'Answer<")
    expect(problems).toContain("'number' is not assignable to parameter of type 'string'")
  })

  it('suffice for a program for Node', async () => {
    const source = APP.replace('process.argv[2]', "process.argv[2] ?? ''")
    expect(await check('node', { 'app.ts': source }, ['node'])).toBe('')
  })
})
