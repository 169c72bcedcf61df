/**
 * Each text that "Try it" and the reference page show runs as it is shown, with the files of the examples and the private key
 * in a file.
 */
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest'
import { person } from '../packages/cli/test/asking.ts'
import { SPEC } from '../packages/delivery/test/stranger/signing.ts'
import { type AdminCaller, adminCaller } from '../packages/server/test/admin-api.ts'
import { type Peer, sealingPeer } from '../packages/server/test/sealing.ts'
import { type TestServer, testServer } from '../packages/server/test/server.ts'
import { programOrSkip } from '../test/programs.ts'
import { ended, javaOrSkip, pythonOrSkip } from './test/languages.ts'

let server: TestServer
let admin: AdminCaller
let peer: Peer
let folder: string
beforeAll(async () => {
  server = await testServer()
  await server.registry('civil', [person('0012', 'Ada')])
  admin = await adminCaller(server)
  // It may leave messages unsigned, as the commands for curl do, and its programs sign.
  peer = await sealingPeer(server, 'sp.example', { settings: { signature_policy: 'if-present', allow_unsigned: true } })
  folder = await mkdtemp(join(tmpdir(), 'rollcall-shown-'))
  await writeFile(join(folder, 'key.json'), JSON.stringify({ ...peer.signer.privateJwk, kid: peer.signer.kid }))
  await symlink(join(import.meta.dirname, '../node_modules'), join(folder, 'node_modules'))
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

type Shown = 'curl' | 'typescript' | 'python' | 'java'

/** The file of each text, and the words that run it in a folder with the files of the example. */
const RUN: Readonly<Record<Shown, { file: string; words: (context: TestContext) => Promise<readonly string[]> }>> = {
  curl: { file: 'search.sh', words: async (context) => [programOrSkip(context, 'curl') && 'bash', join(folder, 'search.sh')] },
  typescript: { file: 'search.ts', words: async () => [process.execPath, join(folder, 'search.ts')] },
  python: { file: 'search.py', words: async (context) => [pythonOrSkip(context), '-B', join(folder, 'search.py')] },
  java: {
    file: 'Search.java',
    words: async (context) => [...(await javaOrSkip(context, folder, ['Rollcall'])), join(folder, 'Search.java')],
  },
}

const BY_UIN = { identifier: { type: 'UIN', value: '0012' } }
const built = async (asked: object) =>
  (await admin.post('/registries/civil/try', { sender_id: 'sp.example', ...asked })).body as Record<Shown, string>

async function run(context: TestContext, name: Shown, text: string) {
  const { file, words } = RUN[name]
  const program = await words(context)
  await writeFile(join(folder, file), text)
  return ended(program, '', {
    REGISTRY: server.url,
    CLIENT_ID: peer.client_id,
    CLIENT_SECRET: peer.secret,
    SIGNING_KEY: join(folder, 'key.json'),
    PYTHONPATH: join(import.meta.dirname, 'python'),
  })
}

test.for(Object.keys(RUN) as Shown[])('the search in %s finds the person', async (name, context) => {
  const { code, stdout, stderr } = await run(context, name, (await built(BY_UIN))[name])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/search_response/)
  expect(stdout).toMatch(/succ/)
})

/** The programs that the script of the reference page shows for a request. */
async function onReferencePage(name: Shown, path: string, body: string): Promise<string> {
  const page = await (await fetch(`${server.url}/civil/v1.0.0/docs`)).text()
  const [, shown = ''] = / data-programs="([^"]*)"/.exec(page) ?? []
  const programs = JSON.parse(shown.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))))
  const script = await (await fetch(`${server.url}/assets/site/programs.js`)).text()
  const context = { URL, programs, name, request: { url: `${server.url}/civil/v1.0.0/${path}`, body } }
  return runInNewContext(`${script}; programOf(programs, name, request)`, context)
}

const PROGRAMS = ['typescript', 'python', 'java'] as const

interface Envelope {
  readonly header: object
  readonly message: { readonly search_request: { search_criteria: { query: unknown } }[] }
}

/** The first example of a path in the OpenAPI document, as the page shows it. */
async function exampleOf(path: string): Promise<Envelope> {
  const { paths } = (await (await fetch(`${server.url}/civil/v1.0.0/openapi.json`)).json()) as {
    paths: Record<string, { post: { requestBody: { content: Record<string, Shapes> } } }>
  }
  const { example, examples = {} } = paths[`/${path}`]?.post.requestBody.content['application/json'] ?? {}
  const shown = example ?? Object.values(examples)[0]?.value
  if (shown === undefined) throw new Error(`no example of ${path}`)
  return { ...shown, header: { ...shown.header, ...OURS } }
}

interface Shapes {
  readonly example?: Envelope
  readonly examples?: Readonly<Record<string, { readonly value: Envelope }>>
}

const OURS = { sender_id: 'sp.example', receiver_id: 'civil.example', meta: { ok: true, no: null } }

test.for(PROGRAMS)('the reference page shows its requests in %s, and each program asks', async (name, context) => {
  const search = await exampleOf('registry/sync/search')
  const [item] = search.message.search_request
  if (item !== undefined) item.search_criteria.query = { type: 'UIN', value: '0012' }
  const program = await onReferencePage(name, 'registry/sync/search', JSON.stringify(search))
  expect(await run(context, name, program)).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/0012/) })

  const status = await exampleOf('registry/sync/txn/status')
  const asksStatus = await onReferencePage(name, 'registry/sync/txn/status', JSON.stringify(status))
  const answered = { code: 0, stderr: '', stdout: expect.stringMatching(/txnstatus_response/) }
  expect(await run(context, name, asksStatus)).toMatchObject(answered)

  const later = await exampleOf('registry/search')
  const asksLater = await onReferencePage(name, 'registry/search', JSON.stringify(later))
  expect(asksLater).toContain('https://spmis.demo/registry/on-search')
  const { code, stderr } = await run(context, name, asksLater)
  expect(code).toBe(1)
  // It was signed and sent: the address of the example is not registered.
  expect(stderr).toContain('err.sender_uri.invalid')
})

test('the reference page shows no program for what is no message', async () => {
  for (const name of PROGRAMS) {
    const text = `${name === 'python' ? '#' : '//'} This request is no message to the registry; the text for curl sends it.\n`
    expect(await onReferencePage(name, 'registry/sync/search', 'no JSON')).toBe(text)
    expect(await onReferencePage(name, 'elsewhere', '{"header": {}, "message": {}}')).toBe(text)
  }
})

test('a text that ends a line of a program stays a text, and a program that cannot sign so says it', async () => {
  const value = 'x\'"; rm -rf ~ #\n`$(id)`\u2028\\u0022"""*/'
  for (const text of Object.values(await built({ identifier: { type: 'UIN', value } })).filter(isText)) {
    expect(text.split('\n').filter((line) => line.includes('rm -rf')).length).toBeLessThanOrEqual(1)
  }
  await sealingPeer(server, 'jws.example', { profile: { ...SPEC, layout: 'jws' } })
  const { python, java, typescript } = await built({ sender_id: 'jws.example', ...BY_UIN })
  const rule = 'cannot sign as this participant does: jws, rfc8785, EdDSA. docs/other-languages.md has the steps.'
  expect([python, java]).toEqual([`# rollcall.py ${rule}\n`, `// Rollcall.java ${rule}\n`])
  expect(typescript).toContain('signing: { key, profile: {"layout":"jws",')
})

const isText = (value: unknown): value is string => typeof value === 'string'
