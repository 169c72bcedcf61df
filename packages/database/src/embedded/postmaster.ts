/** Finds, starts and stops the postmaster, PostgreSQL's main process. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { removeOldCopies } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { changeOwner, EmbeddedPostgresError, hasErrorCode, isProcessAlive } from './files.ts'
import { POSTGRES_SETTINGS, removeSocketDirectory, SOCKET_PORT, socketDirectory } from './settings.ts'

const runCommand = promisify(execFile)

/** Milliseconds for which a lock file may be empty, because a starting process has not written it yet. */
const MOST_EMPTY_LOCK_FILE_MS = 5_000

/**
 * Milliseconds to wait until the socket of a killed postmaster closes. A socket that accepts connections for longer belongs to a
 * postmaster that this process cannot see.
 */
const MOST_SOCKET_CLOSING_MS = 5_000

/** A running postmaster, and the address of its socket. */
export interface Postmaster {
  readonly pid: number
  readonly socketDirectory: string
  readonly port: number
}

/** The postmaster that runs on this cluster, whichever process started it; null when none runs. */
export async function findPostmaster(cluster: Cluster): Promise<Postmaster | null> {
  const text = await readFileIfThere(join(cluster.data, 'postmaster.pid'))
  // Lines: process id, data directory, start time, port, socket directory, listen address, shared memory, status.
  const [pid, , , port, directory] = text?.split('\n') ?? []
  if (!pid || !port || !directory || !(await isPostmaster(Number(pid), cluster))) return null
  return { pid: Number(pid), port: Number(port), socketDirectory: directory }
}

/** True when this process is a postmaster of this cluster: its command line has the data directory after -D. */
async function isPostmaster(pid: number, cluster: Cluster): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0 || !isProcessAlive(pid)) return false
  const words = await readCommandLine(pid)
  return words.includes(` -D ${cluster.data} `)
}

/** The command line of a process, with a space after each word; empty when the process is gone or a zombie. */
async function readCommandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    return (await readFileIfThere(`/proc/${pid}/cmdline`))?.replaceAll('\0', ' ') ?? ''
  }
  return runCommand('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => `${stdout.trim()} `,
    () => '',
  )
}

/**
 * Removes a lock file when its process is no postmaster of this cluster. PostgreSQL does this itself for a dead
 * process, but refuses to start when the file is empty or another program has the process id.
 */
async function removeStaleLockFile(path: string, cluster: Cluster): Promise<void> {
  const text = await readFileIfThere(path)
  if (text === null) return
  if (text === '') {
    // The file is empty for a moment while another start writes it; for longer, only after a power cut.
    const age = Date.now() - (await stat(path).then((file) => file.mtimeMs, Date.now))
    if (age < MOST_EMPTY_LOCK_FILE_MS) return
  } else if (await isPostmaster(Number.parseInt(text, 10), cluster)) return
  // The command line of a killed postmaster disappears a moment before its sockets close.
  for (const end = Date.now() + MOST_SOCKET_CLOSING_MS; await isSocketListening(text); await sleep(50)) {
    // Another start has written the lock file again since it was read.
    if ((await readFileIfThere(path)) !== text) return
    if (Date.now() < end) continue
    throw new EmbeddedPostgresError(
      `A PostgreSQL that this process cannot see, in another container perhaps, uses ${cluster.data}. Stop it first.`,
    )
  }
  if ((await readFileIfThere(path)) === text) await rm(path, { force: true })
}

/** True when the socket that a lock file names accepts connections. */
async function isSocketListening(lockFile: string): Promise<boolean> {
  const [, , , port, directory] = lockFile.split('\n')
  if (!port || !directory) return false
  const socket = createConnection(join(directory, `.s.PGSQL.${port}`))
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
  } finally {
    socket.destroy()
  }
}

async function readFileIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'ESRCH')) return null
    throw error
  }
}

/** The size in bytes above which the log file is renamed to postgres.log.1 at the next start. */
const MOST_LOG_BYTES = 10_000_000

/** Milliseconds for a stop: first `fast`, with a checkpoint; then `immediate`, with a recovery at the next start. */
const STOP_TIMEOUTS_MS = { fast: 60_000, immediate: 15_000 }

/** A postmaster that this process started. */
export interface PostmasterStart {
  readonly child: ChildProcess
  /** Undefined while the postmaster runs; null when a signal ended it. */
  exitCode(): number | null | undefined
  /** The lines that the postmaster has written to the log since this start. */
  said(): Promise<string>
}

/** Starts the postmaster in a session of its own: Ctrl-C in our terminal and our own end do not stop it. */
export async function startPostmaster(cluster: Cluster): Promise<PostmasterStart> {
  const directory = await socketDirectory(cluster)
  await removeStaleLockFile(join(cluster.data, 'postmaster.pid'), cluster)
  await removeStaleLockFile(join(directory, `.s.PGSQL.${SOCKET_PORT}.lock`), cluster)
  await removeOldCopies(cluster.home, cluster.binaries)
  const settings = { ...POSTGRES_SETTINGS, port: String(SOCKET_PORT), unix_socket_directories: directory }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  await putLargeLogAside(cluster)
  const log = await open(cluster.logFile, 'a', 0o600)
  try {
    await changeOwner(cluster.user, cluster.logFile)
    const { size } = await log.stat()
    const child = spawn(cluster.binaries.postgres, ['-D', cluster.data, ...options], {
      cwd: cluster.home,
      // Nothing from our environment: variables such as PGOPTIONS would change how PostgreSQL runs.
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      ...cluster.user,
    })
    let exit: number | null | undefined
    child.once('exit', (code) => {
      exit = code
    })
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject)).catch((error) => {
      throw new EmbeddedPostgresError(`PostgreSQL did not start (${error.message}). Its log file is ${cluster.logFile}.`)
    })
    child.unref()
    return { child, exitCode: () => exit, said: () => readLogSince(cluster, size, child.pid) }
  } finally {
    await log.close()
  }
}

/** Stops the postmaster with `fast`, if needed with `immediate`, and waits for its end. */
export async function stopPostmaster(postmaster: Postmaster, cluster: Cluster): Promise<void> {
  for (const [signal, timeout] of [
    ['SIGINT', STOP_TIMEOUTS_MS.fast],
    ['SIGQUIT', STOP_TIMEOUTS_MS.immediate],
  ] as const) {
    if (await isPostmaster(postmaster.pid, cluster)) sendSignal(signal, postmaster)
    if (await hasEndedWithin(postmaster, cluster, timeout)) {
      await removeSocketDirectory(postmaster)
      return
    }
  }
  throw new EmbeddedPostgresError(`PostgreSQL (process ${postmaster.pid}) does not stop. Its log file is ${cluster.logFile}.`)
}

function sendSignal(signal: 'SIGINT' | 'SIGQUIT', { pid }: Postmaster): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // The postmaster has ended by itself just before the signal.
    if (!hasErrorCode(error, 'ESRCH')) throw error
  }
}

async function hasEndedWithin({ pid }: Postmaster, cluster: Cluster, timeout: number): Promise<boolean> {
  for (const end = Date.now() + timeout; Date.now() < end; await sleep(20)) {
    if (!(await isPostmaster(pid, cluster))) return true
  }
  return false
}

async function putLargeLogAside({ logFile }: Cluster): Promise<void> {
  const size = await stat(logFile).then(
    (file) => file.size,
    () => 0,
  )
  if (size > MOST_LOG_BYTES) await rename(logFile, `${logFile}.1`)
}

async function readLogSince(cluster: Cluster, size: number, pid: number | undefined): Promise<string> {
  const text = (await readFile(cluster.logFile)).subarray(size).toString()
  return text
    .split('\n')
    .filter((line) => line.includes(`[${pid}]`) || !line.includes('] '))
    .join('\n')
}
