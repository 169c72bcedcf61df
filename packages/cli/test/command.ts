/** The real command, in processes beside the test's. */
import { type ChildProcess, type ChildProcessWithoutNullStreams, fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import type { TestServer } from '../../database/test/global-setup.ts'
import { masterKeyOfRun } from '../../keys/test/postgres.ts'
import type { Order } from './command-host.ts'

type Environment = Readonly<Record<string, string>>

export interface Ended {
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly process: ChildProcess
  /** The output so far. */
  output(): Omit<Ended, 'code'>
  readonly ended: Promise<Ended>
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

/** The environment of a command: of our own it gets only the variables that find programs and folders. */
function environment(env: Environment): Environment {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  return {
    PATH,
    HOME,
    ...(TMPDIR !== undefined && { TMPDIR }),
    PORT: '0',
    ROLLCALL_DRAIN_TIME: '0',
    // `''` in `env` is as if there were none.
    ROLLCALL_MASTER_KEY: masterKeyOfRun(),
    ...env,
  }
}

/**
 * Starts `rollcall` with these words, in a process of its own.
 * @param program its path; without it the command, which `built-programs.ts` has built
 */
export function start(words: readonly string[], env: Environment, program = inject('programs').rollcall): Running {
  return running(spawn(process.execPath, [program, ...words], { env: environment(env), stdio: 'pipe' }))
}

/** The running commands. They are ended with the worker, however a test ends. */
const living = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

/** A process that was started with pipes. */
export function running(child: ChildProcessWithoutNullStreams): Running {
  living.add(child)
  child.once('exit', () => living.delete(child))
  const printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text))
  // A command that ends without reading what it is given is no failure of the test.
  child.stdin.on('error', () => undefined)
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...printed }))
  })
  return {
    process: child,
    output: () => ({ ...printed }),
    ended,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

/** Hosts that wait for a command. */
const idle: ChildProcess[] = []

/** Runs a command to its end, in a process that may have run others before. */
export function rollcall(words: readonly string[], env: Environment = {}, input = '', cwd?: string): Promise<Ended> {
  return runInHost({ words, env: environment(env), input, cwd })
}

/**
 * The same with this environment and nothing else; in a process of its own when it has variables that Node reads as it starts.
 */
export async function runInHost({ words, env, input, cwd }: Omit<Order, 'mark'>): Promise<Ended> {
  if (Object.keys(env).some((name) => name.startsWith('NODE_'))) {
    const program = inject('programs').rollcall
    const started = running(spawn(process.execPath, [program, ...words], { env: { ...env }, cwd, stdio: 'pipe' }))
    started.process.stdin?.end(input)
    return started.ended
  }
  const { host: program } = inject('programs')
  const host = idle.pop() ?? fork(program, { env: environment({}), stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const order: Order = { words, env, input, cwd, mark: `\0${randomBytes(16).toString('hex')}` }
  const [stdout, stderr] = [host.stdout, host.stderr].map((stream) => untilMark(stream, order.mark))
  const code = new Promise<number | null>((resolve) => host.once('message', resolve).once('exit', resolve))
  host.send(order)
  const ended = { code: await code, stdout: (await stdout) ?? '', stderr: (await stderr) ?? '' }
  host.removeAllListeners()
  if (host.exitCode === null) idle.push(host)
  return ended
}

/** The text of a stream before the mark, or before its end. */
function untilMark(stream: Readable | null, mark: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ''
  stream?.setEncoding('utf8')
  const done = (): void => {
    stream?.off('data', more).off('end', done)
    resolve(text.replace(mark, ''))
  }
  const more = (part: string): void => {
    text += part
    if (text.endsWith(mark)) done()
  }
  stream?.on('data', more).on('end', done)
  return promise
}

/** Runs a command with --json that must succeed, and parses what it prints. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export async function rollcallJson(words: readonly string[], env: Environment = {}): Promise<any> {
  const { code, stdout, stderr } = await rollcall([...words, '--json'], env)
  if (code !== 0) throw new Error(`rollcall ${words.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

/** Waits until `find` finds something; fails, with what the process has printed, when it ends first or takes too long. */
export async function until<Found>(
  running: Running,
  find: () => Found | null | Promise<Found | null>,
  timeout = 240_000,
): Promise<Found> {
  const over = running.ended.then(() => true)
  for (const end = Date.now() + timeout; ; ) {
    const found = await find()
    if (found !== null) return found
    const last = await Promise.race([over, sleep(20, false)])
    if (last || Date.now() > end) throw new Error(`not found in time; printed: ${JSON.stringify(running.output())}`)
  }
}

/** A line of standard output that matches. */
export function printed(running: Running, pattern: RegExp): Promise<RegExpExecArray> {
  return until(running, () => pattern.exec(running.output().stdout))
}

/** A data directory that PostgreSQL's own user can get through, and its removal. */
export async function dataDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'rollcall-cli-'))
  await chmod(path, 0o711)
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) }
}

/** DATABASE_URL of a database of the test run. */
export function databaseUrl({ host, port, user, password, database }: TestServer): string {
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
  return `postgres://${login}@/${database}?host=${encodeURIComponent(host)}&port=${port}`
}
