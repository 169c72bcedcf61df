/** docs/command-line.md: every example runs beside a demo, which calls back. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { generateLines } from '@rollcall/synthetic'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MASTER_KEY } from '../../server/test/server.ts'
import { demoServer } from './asking.ts'
import { databaseUrl, start, until } from './command.ts'
import { shellFunction } from './command-server.ts'

const page = await readFile(new URL('../../../docs/command-line.md', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/```(sh[a-z ]*)\n(.*?)\n```/gs)].map(([, how = '', text = '']) => ({ how, text }))
const run = promisify(execFile)

let demo: Awaited<ReturnType<typeof demoServer>>
beforeAll(async () => {
  const people = (kind: string) => [...generateLines(kind, { count: 69, seed: 'demo' })].map((line) => JSON.parse(line))
  demo = await demoServer({ civil: people('civil'), social: people('social'), ibr: people('ibr'), ess: people('ess') })
})
afterAll(() => demo.close())

/** Runs a block as it stands, in a folder with the file of a demo; what it prints. */
async function printedBy(text: string, cwd: string, more: object = {}): Promise<string> {
  const { PATH = '', HOME = '' } = process.env
  const script = `set -e -o pipefail\n${await shellFunction()}\n${text}`
  const options = { cwd, env: { PATH, HOME, ROLLCALL_DATA: cwd, ...more } }
  return (await run('bash', ['-c', script], options)).stdout
}

test('synchronous searches', async () => {
  const printed: string[] = []
  for (const { how, text } of blocks) if (how === 'sh') printed.push(await printedBy(text, demo.home.path))
  const [first = '', second = '', asked = '', sent = ''] = printed
  expect(first).toMatch(/^from civil\.example, signed\nitem 1: succ, 1 record\n/)
  expect(first).toMatch(/item 1: succ, 2 of \d+ records, page 1\n/)
  expect(first).toContain('{\n  "group_size": 2,\n  "poverty_score": 2.7\n}')
  expect(first.match(/"identifier_value": "8128560370"/g)).toHaveLength(2)
  expect(second).toMatch(/^\d\d\nfrom civil\.example, signed, encrypted\n/)
  expect([asked, sent]).toEqual(['no\nSuspended\n', '1 of 1 lines were taken\n'])
  const batch = JSON.parse(await readFile(join(demo.home.path, 'batch.json'), 'utf8'))
  expect(batch.items).toMatchObject([{ records: [{}] }, { records: [{}] }])
})

test('listening, searches that are called back, and status', async () => {
  const { path: home, env } = demo.home
  const [waits = '', sends = '', asks = ''] = blocks.flatMap(({ how, text }) => (how === 'sh async' ? [text] : []))
  const [terminal = ''] = blocks.flatMap(({ how, text }) => (how === 'sh terminal' ? [text] : []))
  expect(await printedBy(waits, home)).toMatch(/^from civil\.example, signed\nitem 1: succ, 1 record\n/)

  const port = String(await freePort())
  const file = join(home, 'callbacks.ndjson')
  const [, command = ''] = /^rollcall listen --port 8090 --exec '(.*)'$/.exec(terminal) ?? []
  const words = ['listen', '--port', port, '--exec', command.replace('callbacks.ndjson', `'${file}'`)]
  const running = start(words, env)
  await until(running, () => (running.output().stderr.includes('listening on') ? true : null))
  const accepted = await printedBy(sends.replace('8090', port), home)
  const [, correlation_id = ''] = /^accepted, correlation_id (\S+)\n/.exec(accepted) ?? []
  const [, id] = await until(running, () => /message {6}(\S+)\n[\s\S]*item 1: succ, 1 record\n/.exec(running.output().stdout))
  expect(await running.stop('SIGINT')).toMatchObject({ code: 0 })
  expect(JSON.parse(await readFile(file, 'utf8')).header.message_id).toBe(id)

  const asksOurs = asks.replace(/--correlation-id \S+/, `--correlation-id ${correlation_id}`)
  expect(asksOurs).toContain(correlation_id)
  const status = await printedBy(asksOurs, home)
  expect(status).toMatch(/^search asked of civil\.example\n[\s\S]* {2}item 1: succ, 1 record\n\{"txn_type":"search",/)
})

test('a subscription prints events of a registry that lives, until it has ended', async () => {
  const { path: home, env } = demo.home
  const { db, connection } = demo.server.database
  await db.pool.query('update registry set demo = true')
  const [subscribes = ''] = blocks.flatMap(({ how, text }) => (how === 'sh subscription' ? [text] : []))
  const [lives = ''] = blocks.flatMap(({ how, text }) => (how === 'sh life' ? [text] : []))
  const database = { DATABASE_URL: databaseUrl(connection), ROLLCALL_MASTER_KEY: MASTER_KEY }
  const words = [...subscribes.matchAll(/'[^']*'|\S+/g)].map(([word]) => word.replaceAll("'", '')).slice(1)
  const running = start(words, env)
  await until(running, () => (running.output().stderr.includes('subscribed as SUB-') ? true : null))
  const happened = await printedBy(lives, home, database)
  const births = happened.match(/^LiveBirth, event \d+: 1 subscription matched$/gm)?.length ?? 0
  expect(births).toBeGreaterThan(2)
  await until(running, () =>
    (running.output().stdout.match(/ {2}LiveBirth of a Person, /g)?.length ?? 0) >= births ? true : null,
  )
  const { code, stdout, stderr } = await running.stop('SIGINT')
  expect([code, stderr.endsWith('unsubscribed\n')]).toEqual([0, true])
  expect(stdout.match(/^ {2}SUB-\S+: entered$/gm)).toHaveLength(births)
  expect(stdout.match(/"sex": "female"/g)).toHaveLength(births)
  // Another life: that of the same seed would bear the same people again.
  const after = await printedBy(lives.replace('--seed 7', '--seed 8'), home, database)
  expect(after).toMatch(/^LiveBirth, event \d+: 0 subscriptions matched$/m)
  expect(after).not.toContain(': 1 subscription matched')
})

test('an option that the page names is one of these commands, whose help explains all', async () => {
  const { makeWholeProgram } = await import('../src/program.ts')
  const options = (await makeWholeProgram()).commands.flatMap((command) => command.options.map(({ long }) => long))
  expect(options).toContain('--sender-uri')
  const named = [...page.matchAll(/--[a-z][a-z-]+/g)].map(([name]) => name)
  expect([...new Set(named)].filter((name) => name !== '--help' && !options.includes(name))).toEqual([])
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
