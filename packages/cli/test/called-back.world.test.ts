/**
 * The promises of docs/tutorial-integrator.md about callbacks, tried as a new user: `npm start`, a listener, a search,
 * and a kill in between.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DemoFile } from '../src/demo/demo-file.ts'
import { askToken } from './ask.ts'
import { printed, type Running, rollcall, rollcallJson, start, until } from './command.ts'
import { filledDemo } from './filled-demo.ts'

/** Long enough that nothing is given up, with short steps that also bound the breaker's pause. */
const SCHEDULE = Array.from({ length: 100 }, () => '2').join(',')

/** Where the page's commands find the demo and the listener. */
const SHOWN = { demo: 'http://127.0.0.1:8080', listener: 'http://127.0.0.1:8090' }

let home: Awaited<ReturnType<typeof filledDemo>>
let env: Record<string, string>
let server: Running
let listener: Running | null = null
let listensAt: string
let commands: readonly string[]

beforeAll(async () => {
  home = await filledDemo()
  env = { ROLLCALL_DATA: home.path, ROLLCALL_RETRY_SCHEDULE: SCHEDULE }
  const page = await readFile(new URL('../../../docs/tutorial-integrator.md', import.meta.url), 'utf8')
  commands = [...page.matchAll(/```sh\n([^`]*)\n```/g)].map(([, block = '']) => block)
  await startServer()
  listensAt = await listen('0')
}, 600_000)
afterAll(async () => {
  await listener?.stop()
  await server.stop()
  await home.remove()
})

async function startServer(): Promise<void> {
  server = start(['demo', '--json'], env)
  await printed(server, /\n/)
}

/** Starts `rollcall listen`; the address at which it listens. */
async function listen(port: string): Promise<string> {
  const running = start(['listen', '--json', '--port', port], env)
  listener = running
  const [, url = ''] = await until(running, () => /^listening on (\S+) for /m.exec(running.output().stderr))
  return url
}

interface Heard {
  readonly message_id: string
  readonly transaction_id: string
  readonly correlation_id: string
  readonly signed: boolean
  readonly items: readonly { readonly status: string; readonly records: number }[]
}

/** Waits until the listener has printed so many callbacks of this correlation_id, and returns them. */
function heard(correlation_id: string, callbacks: number): Promise<readonly Heard[]> {
  if (listener === null) throw new Error('nobody listens')
  const { output } = listener
  return until(listener, () => {
    const lines = output().stdout.split('\n').slice(0, -1)
    const those = lines.map((line) => JSON.parse(line) as Heard).filter((said) => said.correlation_id === correlation_id)
    return those.length >= callbacks ? those : null
  })
}

const demo = async (): Promise<DemoFile> => JSON.parse(await readFile(join(home.path, 'demo.json'), 'utf8')) as DemoFile

/** A command of the page that begins so, with the addresses of this test. */
async function shownCommand(beginning: string, containing: string): Promise<string> {
  const found = commands.filter((block) => block.startsWith(beginning) && block.includes(containing))
  expect(found).toHaveLength(1)
  const { base_url } = await demo()
  return (found[0] ?? '').replaceAll(SHOWN.demo, base_url).replaceAll(SHOWN.listener, listensAt)
}

/** The acknowledgement that the page's curl prints. */
async function askByCurl(): Promise<string> {
  const { token_url, participant } = await demo()
  const { token } = await askToken(token_url, participant)
  const script = await shownCommand('curl', 'sender_uri')
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { env: { PATH: process.env.PATH ?? '', TOKEN: token } })
  const { message } = JSON.parse(stdout)
  expect(message).toMatchObject({ ack_status: 'ACK' })
  return message.correlation_id
}

/** The words of the page's `npx rollcall` command, as the shell reads them. */
async function words(containing: string): Promise<string[]> {
  const script = await shownCommand('npx rollcall', containing)
  const { stdout } = await promisify(execFile)('bash', ['-c', `npx() { printf '%s\\0' "$@"; }\n${script}`])
  return stdout.split('\0').slice(1, -1)
}

test('a search on the asynchronous path is called back, by curl and by the command', async () => {
  const byCurl = await heard(await askByCurl(), 1)
  expect(byCurl).toMatchObject([
    { transaction_id: 'readme-later', signed: true, items: [{ status: 'succ', records: expect.any(Number) }] },
  ])
  const accepted = await rollcallJson(await words('--sender-uri'), env)
  const [first, second] = await heard(accepted.correlation_id, 2)
  for (const page of [first, second]) expect(page?.items[0]?.records).toBeGreaterThan(0)
})

test('what was acknowledged is called back though the server is killed in between', async () => {
  await listener?.stop()
  const correlation_id = await askByCurl()
  await server.stop('SIGKILL')
  await startServer()
  await listen(new URL(listensAt).port)
  const [callback, ...others] = await heard(correlation_id, 1)
  expect(others).toEqual([])
  expect(callback).toMatchObject({ signed: true, items: [{ status: 'succ', records: expect.any(Number) }] })

  // The last one of the page's transaction is this one.
  const told = await rollcallJson(await words('trace'), env)
  expect(told).toHaveLength(2)
  expect(told[1]).toMatchObject({ correlation_id, state: 'replied', operation: 'search', registry: 'civil' })
  const { events } = await until(server, async () => {
    const [one] = await rollcallJson(['trace', correlation_id], env)
    return one.delivery_states.delivered === 1 ? one : null
  })
  const names = events.map(({ event }: { event: string }) => event)
  expect(names.slice(0, 3)).toEqual(['received', 'accepted', 'begun'])
  expect(names.slice(-2)).toEqual(['attempt', 'delivered'])
  expect(events.at(-2)).toMatchObject({ status: 200, error: null })
  const made = events.find(({ event }: { event: string }) => event === 'delivery made')
  expect(made).toMatchObject({ message_id: callback?.message_id, target_origin: listensAt })

  const { stdout } = await rollcall(['trace', correlation_id], env)
  expect(stdout).toMatch(/^search from demo\.spmis\.example to civil, asynchronous\n/)
  expect(stdout).toMatch(/Z {2}page 1: delivered\n {2}item 1: succ, \d+ records\n$/)
}, 600_000)
