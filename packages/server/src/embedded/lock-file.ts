import { execFile } from 'node:child_process'
import { readFile, rm, stat } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Cluster } from './cluster.ts'
import { EmbeddedPostgresError, hasCode } from './errors.ts'
import { isAlive } from './files.ts'

const run = promisify(execFile)

/** How long (milliseconds) a lock file may be empty because a start is about to write it. */
const WRITING = 5_000

/** How long (milliseconds) the socket of a process that has ended may still accept connections. */
const CLOSING = 5_000

/** The main process of a PostgreSQL that runs, and where it listens. */
export interface Postmaster {
  readonly pid: number
  readonly socketDirectory: string
  readonly port: number
}

/** The postmaster of this very data directory, whoever started it, or null. */
export async function findPostmaster(cluster: Cluster): Promise<Postmaster | null> {
  const text = await readIfThere(join(cluster.data, 'postmaster.pid'))
  // Lines: process id, data directory, start time, port, socket directory, listen address, shared memory, status.
  const [pid, , , port, directory] = text?.split('\n') ?? []
  if (!pid || !port || !directory || !(await isPostmaster(Number(pid), cluster))) return null
  return { pid: Number(pid), port: Number(port), socketDirectory: directory }
}

/** Whether process `pid` is a living postmaster of this data directory: its command line names it after -D. */
export async function isPostmaster(pid: number, cluster: Cluster): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return false
  const words = await commandLine(pid)
  return words.includes(` -D ${cluster.data} `)
}

/** The command line of a process with a space after each word; empty for a zombie and for a process that is gone. */
async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    return (await readIfThere(`/proc/${pid}/cmdline`))?.replaceAll('\0', ' ') ?? ''
  }
  return run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => `${stdout.trim()} `,
    () => '',
  )
}

/**
 * Removes a lock file whose process is not a postmaster of this cluster. PostgreSQL itself gets past the file of a dead
 * process, but refuses to start when the process id now belongs to something else, or when the file is empty.
 */
export async function removeStale(path: string, cluster: Cluster): Promise<void> {
  const text = await readIfThere(path)
  if (text === null) return
  if (text === '') {
    // Empty for an instant while another start writes it; for longer only after a power cut.
    const age = Date.now() - (await stat(path).then((file) => file.mtimeMs, Date.now))
    if (age < WRITING) return
  } else if (await isPostmaster(Number.parseInt(text, 10), cluster)) return
  // A killed postmaster has no command line any more a moment before its sockets close.
  for (const end = Date.now() + CLOSING; await isListening(text); await sleep(50)) {
    // Not the text we judged: another start is ahead.
    if ((await readIfThere(path)) !== text) return
    if (Date.now() < end) continue
    throw new EmbeddedPostgresError(
      `A PostgreSQL that this process cannot see, in another container perhaps, uses ${cluster.data}. Stop it first.`,
    )
  }
  if ((await readIfThere(path)) === text) await rm(path, { force: true })
}

/** Whether something accepts connections at the socket that a lock file names. */
async function isListening(lockFile: string): Promise<boolean> {
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

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return null
    throw error
  }
}
