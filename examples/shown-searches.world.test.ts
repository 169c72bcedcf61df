/** Each text that "Try it" shows runs as it is shown, with the files of the examples and the private key in a file. */
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  curl: {
    file: 'search.sh',
    words: async (context) => [programOrSkip(context, 'curl') && 'bash', join(folder, 'search.sh')],
  },
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

async function run(context: TestContext, name: Shown, asked: object) {
  const { file, words } = RUN[name]
  const program = await words(context)
  await writeFile(join(folder, file), (await built(asked))[name])
  return ended(program, '', {
    REGISTRY: server.url,
    CLIENT_ID: peer.client_id,
    CLIENT_SECRET: peer.secret,
    SIGNING_KEY: join(folder, 'key.json'),
    PYTHONPATH: join(import.meta.dirname, 'python'),
  })
}

test.for(Object.keys(RUN) as Shown[])('the search in %s finds the person', async (name, context) => {
  const { code, stdout, stderr } = await run(context, name, BY_UIN)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/search_response/)
  expect(stdout).toMatch(/succ/)
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
