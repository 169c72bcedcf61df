/** Starts one MariaDB for all lanes of a run, when the first test asks for it. */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { findProgram } from '../../../test/programs.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The path of a socket that tells the socket of MariaDB; null: it is not installed. */
    mariadb: string | null
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const run = project.vitest.getRootProject()
  // An earlier lane has set it up.
  if ('mariadb' in run.getProvidedContext()) return undefined
  const program = findProgram('mariadbd')
  if (program === null) {
    run.provide('mariadb', null)
    return undefined
  }
  const directory = await mkdtemp(join(tmpdir(), 'maria-'))
  let started: Promise<MariadbProcess> | undefined
  const starter = createServer((socket) => {
    started ??= startMariadb(program, directory)
    started.then(
      ({ socketPath }) => socket.end(socketPath),
      (error) => socket.destroy(error),
    )
    socket.on('error', () => undefined)
  })
  const place = join(directory, 'ask')
  await new Promise<void>((resolve) => starter.listen(place, resolve))
  starter.unref()
  run.provide('mariadb', place)
  return async () => {
    starter.close()
    await (await started)?.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

export interface MariadbProcess {
  readonly socketPath: string
  /** Kills the server, and starts it again on what it had stored. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** Options of a server for tests: its data is not safe, and it has little memory. */
const SETTINGS = [
  ...['--innodb-buffer-pool-size=32M', '--innodb-log-file-size=8M', '--innodb-flush-log-at-trx-commit=0'],
  ...['--innodb-doublewrite=0', '--innodb-fast-shutdown=2', '--skip-log-bin', '--performance-schema=off'],
]

/** Starts an empty MariaDB, open to all who reach its socket. @param more options, such as those of a port */
export async function startMariadb(
  program: string,
  directory: string,
  more: readonly string[] = ['--skip-networking'],
): Promise<MariadbProcess> {
  const data = join(directory, 'data')
  const socketPath = join(directory, 'socket')
  // MariaDB refuses to run as root without this option.
  const user = process.getuid?.() === 0 ? ['--user=root'] : []
  const shared = ['--no-defaults', `--datadir=${data}`, ...user]
  const install = findProgram('mariadb-install-db') ?? 'mariadb-install-db'
  await promisify(execFile)(install, [...shared, '--auth-root-authentication-method=normal', '--skip-test-db'])
  const options = [...shared, `--socket=${socketPath}`, `--tmpdir=${data}`, ...SETTINGS, ...more]
  let child = await started(program, options, socketPath)
  // Ctrl-C ends a run without its teardown.
  const remove = (): void => {
    child.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
  process.prependOnceListener('exit', remove)
  return {
    socketPath,
    async kill() {
      await ended(child, 'SIGKILL')
      child = await started(program, options, socketPath)
    },
    async stop() {
      process.off('exit', remove)
      await ended(child, 'SIGTERM')
    },
  }
}

/** Starts the server, and waits until it can be used. */
async function started(program: string, options: readonly string[], socketPath: string): Promise<ChildProcess> {
  const child = spawn(program, options, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (text) => {
    said = `${said}${text}`.slice(-4_000)
  })
  while (!said.includes('ready for connections') || !existsSync(socketPath)) {
    if (child.exitCode !== null) throw new Error(`MariaDB does not start: ${said}`)
    await sleep(20)
  }
  return child
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const end = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await end
}
