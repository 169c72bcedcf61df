/** The programs of docs/python.md and docs/java.md run as they are shown; those of the examples say how they are started. */
import { execFile } from 'node:child_process'
import { createPrivateKey, type JsonWebKey } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import type { DemoFile } from '../packages/cli/src/demo/demo-file.ts'
import { demoServer } from '../packages/cli/test/asking.ts'
import { programOrSkip } from '../test/programs.ts'
import { ended, JAVA, javaOrSkip, PYTHON, pythonOrSkip, SPRING_JARS, started } from './test/languages.ts'

let demo: Awaited<ReturnType<typeof demoServer>>
let folder: string
beforeAll(async () => {
  demo = await demoServer()
  folder = await mkdtemp(join(tmpdir(), 'rollcall-docs-programs-'))
})
afterAll(async () => {
  await demo.close()
  await rm(folder, { recursive: true })
})

/** A program of a page, with the addresses and names of the test's participant. */
async function shownProgram(page: string, name: string): Promise<string> {
  const text = await readFile(new URL(`../docs/${page}`, import.meta.url), 'utf8')
  const [, program = ''] = new RegExp(`<!-- run: ${name} -->\\n\`\`\`\\w+\\n(.*?)\\n\`\`\``, 's').exec(text) ?? []
  const { base_url, participant } = JSON.parse(await readFile(join(demo.home.path, 'demo.json'), 'utf8')) as DemoFile
  const key = createPrivateKey({ key: participant.sign.private_jwk as JsonWebKey, format: 'jwk' })
  await writeFile(join(folder, 'private-key.pem'), key.export({ type: 'pkcs8', format: 'pem' }))
  await writeFile(join(folder, 'secret.txt'), `${participant.client_secret}\n`)
  return program
    .replaceAll('https://registry.example.org', base_url)
    .replaceAll(/(?<!https:\/\/)spmis\.example\.org/g, participant.sender_id)
    .replaceAll('sig-2026', participant.sign.kid)
    .replaceAll('7f0c', participant.client_id)
}

interface Shown {
  readonly page: string
  readonly file: (name: string) => string
  readonly words: (context: TestContext, file: string) => Promise<readonly string[]>
  readonly found: string
}

const SHOWN: Readonly<Record<string, Shown>> = {
  Python: {
    page: 'python.md',
    file: (name) => `${name}.py`,
    words: async (context, file) => [pythonOrSkip(context), '-B', file],
    found: 'item 1 found: 1\nitem 2 found: 3\n',
  },
  Java: {
    page: 'java.md',
    file: (name) => `${name.charAt(0).toUpperCase()}${name.slice(1)}.java`,
    words: async (context, file) => [...(await javaOrSkip(context, folder)), file],
    found: 'item 1 found: 1\n',
  },
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

describe.each(Object.entries(SHOWN))('%s', (_, { page, file, words, found }) => {
  const run = async (context: TestContext, name: string, program: string) => {
    const path = join(folder, file(name))
    await writeFile(path, program)
    const [command = '', ...others] = await words(context, path)
    return { command, others, options: { cwd: folder, env: { PYTHONPATH: join(import.meta.dirname, 'python') } } }
  }

  test('the program of its page asks, and prints how many were found', async (context) => {
    const { command, others, options } = await run(context, 'search', await shownProgram(page, 'search'))
    expect((await promisify(execFile)(command, others, options)).stdout).toBe(found)
  })

  test('the program of its page asks, and is called back', async (context) => {
    const port = await freePort()
    const text = (await shownProgram(page, 'callbacks'))
      .replace('8090', String(port))
      .replace('https://spmis.example.org', `http://127.0.0.1:${port}`)
    const { command, others, options } = await run(context, 'callbacks', text)
    const child = started([command, ...others], options.env, folder)
    onTestFinished(async () => {
      child.kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    })
    const printed: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => printed.push(data))
    await expect.poll(() => String(Buffer.concat(printed)).split('\n')).toHaveLength(3)
    const lines = String(Buffer.concat(printed)).trimEnd().split('\n')
    const [, id = ''] = /^asked: (.*)$/m.exec(lines.join('\n')) ?? []
    expect(lines.toSorted()).toEqual([`asked: ${id}`, `${id} has 1 item`].toSorted())
  })

  test('an address without TLS is refused by its name', async (context) => {
    const text = (await shownProgram(page, 'search')).replace(/"http:[^"]*"/, '"http://registry.example.org"')
    const { command, others, options } = await run(context, 'search', text)
    const { stderr } = await promisify(execFile)(command, others, options).catch((error: { stderr: string }) => error)
    expect(stderr).toMatch(/http:\/\/registry\.example\.org\/\.well-known\/jwks\.json must begin with https:\/\//)
  })
})

test.for([PYTHON, JAVA])('each program in $name says how it is started', async ({ words }, context) => {
  for (const program of ['vectors', 'try_demo', 'receive'] as const) {
    const { code, stdout, stderr } = await ended(await words(context, program, folder))
    expect({ program, code: code > 0, stdout }).toEqual({ program, code: true, stdout: '' })
    expect(stderr).toMatch(/usage: java (Vectors|TryDemo|Receive) |python3 (vectors|try_demo|receive)\.py /)
    expect(stderr).not.toMatch(/Traceback|Exception/)
  }
})

test('the receiver for Spring compiles', async (context) => {
  const [, , , , path = ''] = await javaOrSkip(context, folder)
  if (!SPRING_JARS.every((jar) => existsSync(jar))) context.skip('Spring (libspring-web-java) is not installed')
  const file = join(import.meta.dirname, 'java/SpringReceiver.java')
  const words = ['-Xlint:all,-serial', '-Werror', '-cp', [path, ...SPRING_JARS].join(':'), '-d', folder, file]
  expect(await ended([programOrSkip(context, 'javac'), ...words])).toEqual({ code: 0, stdout: '', stderr: '' })
})
