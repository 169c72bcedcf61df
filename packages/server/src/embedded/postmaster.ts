import { type ChildProcess, spawn } from 'node:child_process'
import { open, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { removeOldCopies } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { EmbeddedPostgresError, hasCode } from './errors.ts'
import { giveOne } from './files.ts'
import { isPostmaster, type Postmaster, removeStale } from './lock-file.ts'
import { SETTINGS } from './settings.ts'
import { PORT, removeSocketDirectory, socketDirectory } from './socket.ts'

/** A log file larger than this (bytes) is put aside, as postgres.log.1, at the next start. */
const LOG_LIMIT = 10_000_000

/** Milliseconds a stop may take: first in good order with a checkpoint, then at once with a recovery at the next start. */
const STOP_PATIENCE = { fast: 60_000, immediate: 15_000 }

/** A postmaster that we started: what became of it, and what it said. */
export interface Start {
  readonly child: ChildProcess
  /** Undefined while it runs; null when a signal ended it. */
  exitCode(): number | null | undefined
  /** Its own lines of the log, of this start only. */
  said(): Promise<string>
}

/** Spawns the postmaster in a session of its own, so that neither our end nor our terminal's Ctrl-C reaches it. */
export async function startPostmaster(cluster: Cluster): Promise<Start> {
  const directory = await socketDirectory(cluster)
  await removeStale(join(cluster.data, 'postmaster.pid'), cluster)
  await removeStale(join(directory, `.s.PGSQL.${PORT}.lock`), cluster)
  await removeOldCopies(cluster.home, cluster.binaries)
  const settings = { ...SETTINGS, port: String(PORT), unix_socket_directories: directory }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  await putLogAside(cluster)
  const log = await open(cluster.logFile, 'a', 0o600)
  try {
    await giveOne(cluster.user, cluster.logFile)
    const { size } = await log.stat()
    const child = spawn(cluster.binaries.postgres, ['-D', cluster.data, ...options], {
      cwd: cluster.home,
      // Nothing of ours: PGOPTIONS and its like would change how PostgreSQL runs.
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      ...cluster.user,
    })
    let exit: number | null | undefined
    child.once('exit', (code) => {
      exit = code
    })
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject)).catch(
      (error) => {
        throw new EmbeddedPostgresError(
          `PostgreSQL did not start (${error.message}). Its log file is ${cluster.logFile}.`,
        )
      },
    )
    child.unref()
    return { child, exitCode: () => exit, said: () => logSince(cluster, size, child.pid) }
  } finally {
    await log.close()
  }
}

/** Stops the postmaster and waits until it is gone. */
export async function stopPostmaster(postmaster: Postmaster, cluster: Cluster): Promise<void> {
  for (const [signal, patience] of [
    ['SIGINT', STOP_PATIENCE.fast],
    ['SIGQUIT', STOP_PATIENCE.immediate],
  ] as const) {
    if (await isPostmaster(postmaster.pid, cluster)) send(signal, postmaster)
    if (await hasGone(postmaster, cluster, patience)) {
      await removeSocketDirectory(postmaster)
      return
    }
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL (process ${postmaster.pid}) does not stop. Its log file is ${cluster.logFile}.`,
  )
}

function send(signal: 'SIGINT' | 'SIGQUIT', { pid }: Postmaster): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // It ended by itself in this moment.
    if (!hasCode(error, 'ESRCH')) throw error
  }
}

async function hasGone({ pid }: Postmaster, cluster: Cluster, patience: number): Promise<boolean> {
  for (const end = Date.now() + patience; Date.now() < end; await sleep(20)) {
    if (!(await isPostmaster(pid, cluster))) return true
  }
  return false
}

async function putLogAside({ logFile }: Cluster): Promise<void> {
  const size = await stat(logFile).then(
    (file) => file.size,
    () => 0,
  )
  if (size > LOG_LIMIT) await rename(logFile, `${logFile}.1`)
}

async function logSince(cluster: Cluster, size: number, pid: number | undefined): Promise<string> {
  const text = (await readFile(cluster.logFile)).subarray(size).toString()
  return text
    .split('\n')
    .filter((line) => line.includes(`[${pid}]`) || !line.includes('] '))
    .join('\n')
}
